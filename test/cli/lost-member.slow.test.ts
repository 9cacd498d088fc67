import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lookVerbs } from '../../src/cli/verbs-look.ts';
import { pairFile } from '../scenarios/converge-file.ts';
import { endPlace } from './fleet.ts';
import { codesOf, json, meshwright } from './meshwright.ts';
import { placeWithPair } from './pair.ts';
import type { Place } from './place.ts';
import { schemaCheck } from './schema-check.ts';

let place: Place;
const run = (...words: string[]) => meshwright(place, words);

beforeAll(async () => {
  place = await placeWithPair(pairFile());
  expect((await run('apply', '--sim', '--yes')).code).toBe(0);
  expect((await run('sim', 'fault', 'power-cut', 'studio-4')).code).toBe(0);
});
afterAll(() => endPlace(place));

/** How launchd shows the rank of the member that is left. */
async function leftRank(): Promise<string | undefined> {
  const { nodes } = json(await run('facts', 'studio-1', '--fact', 'services', '--sim', '--json')) as {
    readonly nodes: Readonly<Record<string, { readonly services: { readonly value: readonly Service[] } }>>;
  };
  return nodes['studio-1']?.services.value.find(({ label }) => label === 'dev.meshwright.rank.chat')?.state;
}

interface Service {
  readonly label: string;
  readonly state: string;
}

/** Every verb that only looks, by the registry; one of them measures, and `history` needs no word. */
const looks = [...lookVerbs.map(({ name }) => name), 'plan', 'lease status', 'secrets'];
const words: Readonly<Record<string, readonly string[]>> = { bench: ['chat'], logs: ['chat'] };

/** What a document says of a node: values under its name, and entries that name it. */
function saidOf(value: unknown, node: string): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const isAbout = 'node' in value && value.node === node;
  const own = Object.entries(value).flatMap(([key, one]) => (key === node ? [one] : saidOf(one, node)));
  return isAbout || ('name' in value && value.name === node) ? [value, ...own] : own;
}

/** Whether a value, or anything in it, is a zero, an empty list or a success. */
const claims = (value: unknown): boolean =>
  value === 0 ||
  value === true ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' && value !== null && Object.values(value).some(claims));

describe('the document of a look at a rack of which a Mac is gone', () => {
  it.each(looks)('claims nothing about that Mac: %s', async (verb) => {
    const ran = await run(...verb.split(' '), ...(words[verb] ?? []), '--sim', '--json');
    const document = json(ran) as Readonly<Record<string, unknown>>;
    expect(schemaCheck(verb.split(' ')[0] ?? '')(document)).toEqual([]);
    // What was done to it before, and what the file wants of it, is known.
    const { runs: _runs, memory: _memory, diagnostics: _told, findings: _found, ...seen } = document;
    const said = saidOf(seen, 'studio-4');
    expect(said.filter(claims)).toEqual([]);
    expect(JSON.stringify(document)).toContain('studio-4');
  });
});

describe('a mesh of which a Mac is gone', () => {
  it('is not started, and start says what waits, why, and how the rest is stopped', async () => {
    const { code, stdout } = await run('start', 'chat', '--sim', '--yes');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^\s*Waiting \(1\)\n {2}placement\/chat +on studio-1: .*studio-4:/m);
    expect(stdout).toContain('  error    studio-4: Nothing listens at');
    expect(stdout).toContain('meshwright stop chat --sim\n');
    expect(stdout).toMatch(/^Failed.*Not\s+reached:\s+studio-4\.$/ms);
  });

  it('is promised no start by the plan of restart', async () => {
    const { code, stdout } = await run('restart', 'chat', '--sim');
    expect([code, await leftRank()]).toEqual([5, 'running']);
    expect(stdout).toMatch(/^\s*Waiting \(1\)$/m);
    expect(stdout).not.toContain('Then: starts');
  });

  it('is mentioned by an apply to the other Mac, which has nothing to do there', async () => {
    const { code, stdout } = await run('apply', '--nodes', 'studio-1', '--sim', '--yes');
    expect([code, stdout.includes('warning  placement chat: Could not observe studio-4.')]).toEqual([0, true]);
    const document = json(await run('plan', '--nodes', 'studio-1', '--sim', '--json'));
    expect(codesOf(document)).toContain('mesh/lost-member');
  });

  it.each([
    ['reboot', 'Not rebooted: studio-4. Nothing was stopped or rebooted.'],
    ['shutdown', 'Not shut down: studio-4'],
    ['hold', 'Failed. Not reached: studio-4.'],
  ])('keeps running while %s of the Mac that is away gives the reason', async (verb, words) => {
    const { code, stdout, stderr } = await run(verb, 'studio-4', '--sim', '--yes');
    expect([code, stderr, stdout]).toEqual([1, '', expect.stringContaining(words)]);
    expect(stdout).toContain('error    studio-4: Nothing listens at');
    expect(await leftRank()).toBe('running');
  });

  it('is stopped as far as its Macs answer, which a second stop finds done', async () => {
    expect(await leftRank()).toBe('running');
    const stopped = await run('stop', 'chat', '--sim', '--yes');
    expect([stopped.code, await leftRank()]).toEqual([4, 'not-loaded']);
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
