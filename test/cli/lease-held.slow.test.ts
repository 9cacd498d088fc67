import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, json } from './meshwright.ts';
import { bareFile, fileIn, pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';
import { holdLease, listenTo, type Talking } from './talking.ts';

const { place, run } = pairPlace(bareFile(), { isApplied: true });
let holder: Talking;
let before: unknown;
beforeAll(async () => {
  expect((await run('sim', 'fault', 'power-wrong', 'studio-1', 'studio-4')).code).toBe(0);
  before = await pending();
  holder = await holdLease(place);
});
afterAll(() => holder?.child.kill('SIGKILL'));

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
    expect([ran.code, holder.child.exitCode]).toEqual([75, null]);
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

  it('changes a target node on which no run has a lease', async () => {
    const ran = await run('apply', 'studio-1', '--sim', '--yes');
    expect([ran.code, holder.child.exitCode]).toEqual([0, null]);
    expect(await leasedNow()).toEqual(['studio-4']);
  });

  it('waits at most --lease-wait, and continues when the other run has ended', async () => {
    const short = await run('apply', '--sim', '--yes', '--lease-wait', '2s', '--json');
    expect([short.code, codesOf(json(short))]).toEqual([75, expect.arrayContaining(['lease/held'])]);
    const waiting = listenTo(place, ['apply', '--sim', '--yes', '--lease-wait', '2m']);
    await waiting.until('is leased to another run');
    expect([waiting.child.exitCode, holder.child.exitCode]).toEqual([null, null]);
    expect((await run('exec', '--sim', 'studio-4', '--', 'touch', 'over')).code).toBe(0);
    const ran = await waiting.end;
    expect([(await holder.end).code, ran.code]).toEqual([0, 0]);
    expect(ran.stdout).toContain('studio-4 power/sleep changed');
    expect(await leasedNow()).toEqual([]);
  });
});

describe('apply after a killed run', () => {
  it("releases the killed run's lease, even if there is nothing to change", async () => {
    expect((await run('exec', '--sim', 'studio-4', '--', 'rm', 'over')).code).toBe(0);
    const killed = await holdLease(place);
    killed.child.kill('SIGKILL');
    await killed.end;
    expect((await run('exec', '--sim', 'studio-4', '--', 'touch', 'over')).code).toBe(0);
    expect(await leasedNow()).toEqual(['studio-4']);
    const ran = await run('apply', '--sim', '--yes');
    expect([ran.code, ran.stdout.includes('Nothing to change')]).toEqual([0, true]);
    expect(ran.stderr).toContain('studio-4: released the lease of a run that has ended');
    expect(await leasedNow()).toEqual([]);
  });
});
