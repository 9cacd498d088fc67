import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endPlace } from './fleet.ts';
import { codesOf, ended, json, meshwright, type Ran, start } from './meshwright.ts';
import { bareFile, fileIn, placeWithPair } from './pair.ts';
import type { Place } from './place.ts';
import { schemaCheck } from './schema-check.ts';

let place: Place;
let holder: ChildProcess;
let holderEnd: Promise<Ran>;
let before: unknown;
beforeAll(async () => {
  place = await placeWithPair(bareFile());
  expect((await run('apply', '--sim', '--yes')).code).toBe(0);
  expect((await run('sim', 'fault', 'power-wrong', 'studio-1', 'studio-4')).code).toBe(0);
  before = await pending();
  place.write('hold.yaml', leasing);
  const words = ['run', 'hold.yaml', '--sim', '--yes'];
  holder = start(place, words);
  holderEnd = ended(holder, words, 200_000);
  while (!(await leasedNow()).includes('studio-4')) {
    if (holder.exitCode !== null) throw new Error(`the run with the lease exited: ${(await holderEnd).stderr}`);
  }
});
afterAll(() => {
  holder?.kill('SIGKILL');
  return endPlace(place);
});

const run = (...words: string[]) => meshwright(place, words);

/** A run that has the lease of the second node until a file exists; minutes of a simulated Mac take seconds. */
const leasing = `playbook: 1
plays:
  - nodes: [studio-4]
    tasks:
      - run:
          command: [sh, -c, "while [ ! -e over ]; do sleep 1; done"]
          effect: none
          deadline: 90m
`;

/** The changes that a plan shows now. */
async function pending(): Promise<unknown> {
  const { changes } = json(await run('plan', '--sim', '--json')) as { readonly changes: readonly unknown[] };
  expect(changes.length).toBeGreaterThan(1);
  return changes;
}

interface LeaseDocument {
  readonly nodes: Readonly<Record<string, { readonly held?: boolean; readonly run?: string }>>;
}

/** The nodes with a lease. */
async function leasedNow(): Promise<readonly string[]> {
  const { nodes } = json(await run('lease', 'status', '--sim', '--json')) as LeaseDocument;
  return Object.entries(nodes).flatMap(([name, { held, run: by }]) => (held && by !== undefined ? [name] : []));
}

describe('apply while another run has a lease', () => {
  it('exits with 75, changes nothing, and shows who has the lease and since when', async () => {
    const ran = await run('apply', '--sim', '--yes', '--record', 'refused.jsonl');
    expect([ran.code, holder.exitCode]).toEqual([75, null]);
    expect(ran.stderr).toContain('lease/held');
    expect(ran.stderr.replaceAll(/\s+/g, ' ')).toMatch(
      /\S+@\S+ has had the lease of studio-4 since \d{4}-\d\d-\d\dT[\d:.]+Z: meshwright run, at \S+ \(run \S+\)\./,
    );
    expect(ran.stderr).toContain('--lease-wait');
    expect(await pending()).toEqual(before);
    // Root scripts only took and released leases; the lease of the first node was released.
    expect(fileIn(place, 'refused.jsonl')).not.toMatch(/ step=|pmset -a/);
    expect(await leasedNow()).toEqual(['studio-4']);
  });

  it('reports the lease in one JSON document that matches its schema', async () => {
    const ran = await run('apply', '--sim', '--yes', '--json');
    const document = json(ran) as { readonly steps: readonly { readonly outcome: string }[] };
    expect(schemaCheck('report')(document)).toEqual([]);
    expect([ran.code, codesOf(document)]).toEqual([75, expect.arrayContaining(['lease/held'])]);
    expect(document).toMatchObject({
      exit: 75,
      counts: { changed: 0 },
      refusals: [{ node: 'studio-4', verb: 'run', since: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) }],
    });
    expect(document.steps.filter(({ outcome }) => outcome === 'changed')).toEqual([]);
    expect(await pending()).toEqual(before);
  });

  it('changes a chosen node that has no lease', async () => {
    const ran = await run('apply', 'studio-1', '--sim', '--yes');
    expect([ran.code, holder.exitCode]).toEqual([0, null]);
    expect(await leasedNow()).toEqual(['studio-4']);
  });

  it('waits at most --lease-wait, and continues when the other run has ended', async () => {
    const short = await run('apply', '--sim', '--yes', '--lease-wait', '2s', '--json');
    expect([short.code, codesOf(json(short))]).toEqual([75, expect.arrayContaining(['lease/held'])]);
    const words = ['apply', '--sim', '--yes', '--lease-wait', '2m'];
    const waiting = start(place, words);
    const end = ended(waiting, words);
    await new Promise<void>((resolve) => {
      let seen = '';
      for (const stream of [waiting.stdout, waiting.stderr]) {
        stream?.on('data', (chunk: Buffer) => {
          seen += chunk.toString();
          if (seen.includes('is leased to another run')) resolve();
        });
      }
      waiting.once('close', () => resolve());
    });
    expect([waiting.exitCode, holder.exitCode]).toEqual([null, null]);
    expect((await run('exec', '--sim', 'studio-4', '--', 'touch', 'over')).code).toBe(0);
    const ran = await end;
    expect([(await holderEnd).code, ran.code]).toEqual([0, 0]);
    expect(ran.stdout).toContain('studio-4 power/sleep changed');
    expect(await leasedNow()).toEqual([]);
  });
});
