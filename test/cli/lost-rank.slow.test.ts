import { beforeAll, describe, expect, it } from 'vitest';
import { lookVerbs } from '../../src/cli/verbs-look.ts';
import { pairFile } from '../scenarios/converge-file.ts';
import { codesOf, json } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';

const { run } = pairPlace(pairFile(), { isApplied: true });
beforeAll(async () => {
  expect((await run('sim', 'fault', 'power-cut', 'studio-4')).code).toBe(0);
});

/** launchd's state of the remaining rank. */
async function remainingRank(): Promise<string | undefined> {
  const { nodes } = json(await run('facts', 'studio-1', '--fact', 'services', '--sim', '--json')) as {
    readonly nodes: Readonly<Record<string, { readonly services: { readonly value: readonly Service[] } }>>;
  };
  return nodes['studio-1']?.services.value.find(({ label }) => label === 'dev.meshwright.rank.chat')?.state;
}

interface Service {
  readonly label: string;
  readonly state: string;
}

/** Every observing command of the registry, and the arguments that some of them need. */
const observing = [...lookVerbs.map(({ name }) => name), 'plan', 'lease status', 'secrets'];
const words: Readonly<Record<string, readonly string[]>> = {
  ...{ bench: ['chat'], logs: ['chat'] },
  wait: ['chat', 'serving', '--deadline', '5s'],
};

/** Everything in a document about a node: values under its name, and entries that contain the name. */
function partsAbout(value: unknown, node: string): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const isAbout = 'node' in value && value.node === node;
  const own = Object.entries(value).flatMap(([key, one]) => (key === node ? [one] : partsAbout(one, node)));
  return isAbout || ('name' in value && value.name === node) ? [value, ...own] : own;
}

/** True if a value, or anything in it, is a zero, an empty list or a success. */
const claims = (value: unknown): boolean =>
  value === 0 ||
  value === true ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' && value !== null && Object.values(value).some(claims));

describe('JSON documents about a rack with a lost Mac', () => {
  it.each(observing)('make no claims about the lost Mac: %s', async (verb) => {
    const ran = await run(...verb.split(' '), ...(words[verb] ?? []), '--sim', '--json');
    const document = json(ran) as Readonly<Record<string, unknown>>;
    expect(schemaCheck(verb.split(' ')[0] ?? '')(document)).toEqual([]);
    // These fields are about earlier runs and the desired state, which are known.
    const { runs: _runs, memory: _memory, diagnostics: _diagnostics, findings: _found, ...seen } = document;
    const parts = partsAbout(seen, 'studio-4');
    expect(parts.filter(claims)).toEqual([]);
    expect(JSON.stringify(document)).toContain('studio-4');
  });
});

describe('a mesh with a lost Mac', () => {
  it('is not started; the start command shows the reason and how to stop the remaining ranks', async () => {
    const { code, stdout } = await run('start', 'chat', '--sim', '--yes');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^\s*Waiting \(1\)\n {2}placement\/chat +on studio-1: .*studio-4:/m);
    expect(stdout).toContain('  error    studio-4: Nothing listens at');
    expect(stdout).toContain('meshwright stop chat --sim\n');
    expect(stdout).toMatch(/^Failed.*Not\s+reached:\s+studio-4\.$/ms);
  });

  it('is not started by a restart plan', async () => {
    const { code, stdout } = await run('restart', 'chat', '--sim');
    expect([code, await remainingRank()]).toEqual([5, 'running']);
    expect(stdout).toMatch(/^\s*Waiting \(1\)$/m);
    expect(stdout).not.toContain('Then: starts');
  });

  it('is reported by an apply to the other Mac, which changes nothing', async () => {
    const { code, stdout } = await run('apply', '--nodes', 'studio-1', '--sim', '--yes');
    expect([code, stdout.includes('warning  placement chat: Could not observe studio-4.')]).toEqual([0, true]);
    const document = json(await run('plan', '--nodes', 'studio-1', '--sim', '--json'));
    expect(codesOf(document)).toContain('mesh/lost-rank');
  });

  it.each([
    ['reboot', 'Not rebooted: studio-4. Nothing was stopped or rebooted.'],
    ['shutdown', 'Not shut down: studio-4'],
    ['hold', 'Failed. Not reached: studio-4.'],
  ])('keeps running, and %s of the lost Mac fails with the reason', async (verb, words) => {
    const { code, stdout, stderr } = await run(verb, 'studio-4', '--sim', '--yes');
    expect([code, stderr, stdout]).toEqual([1, '', expect.stringContaining(words)]);
    expect(stdout).toContain('error    studio-4: Nothing listens at');
    expect(await remainingRank()).toBe('running');
  });

  it('is stopped on the reachable Mac, while the rest of the stop keeps waiting', async () => {
    expect(await remainingRank()).toBe('running');
    const stopped = await run('stop', 'chat', '--sim', '--yes');
    expect([stopped.code, await remainingRank()]).toEqual([4, 'not-loaded']);
    expect(stopped.stdout).toMatch(/^Partly done: 1 changed, /m);
    const again = await run('stop', 'chat', '--sim', '--yes');
    expect([again.code, /^Waiting \(1\)/m.test(again.stdout)]).toEqual([4, true]);
  });

  it('serves again once the Mac is back', async () => {
    await run('sim', 'fault', '--clear', 'power-cut');
    await run('sim', 'power-on', 'studio-4');
    while ((await run('facts', 'studio-4', '--fact', 'services', '--sim')).code !== 0);
    expect((await run('start', 'chat', '--sim', '--yes')).code).toBe(0);
  });
});
