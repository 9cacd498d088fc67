import { describe, expect, it } from 'vitest';
import type { SettledCluster } from '../../../../src/cli/cluster/settle-cluster.ts';
import { namedMembers, namedPlacements, placementsNamed } from '../../../../src/cli/cluster/targets.ts';
import type { Run } from '../../../../src/cli/verb.ts';
import { emptyLock } from '../../../../src/config/lock.ts';
import type { FleetError } from '../../../../src/diagnostics/diagnostic.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { rackOfThree } from '../../../rack/placements.ts';
import { problemsOf } from '../../problems-of.ts';
import { fakeRun } from '../console-of.ts';

const named = (changes: Partial<Run>, fleet = rackOfThree): readonly string[] =>
  namedPlacements(fakeRun(changes).run, { fleet }).map(({ name }) => name);

/** The hint for rejected arguments. */
const hintFor = (act: () => unknown): string =>
  problemsOf(act)
    .map(({ code, hint }) => `${code}: ${hint}`)
    .join('\n');

describe('placements named as arguments', () => {
  it("keep the file's order, and include all placements with --all", () => {
    expect(named({ words: ['qwen', 'kimi'] })).toEqual(['kimi', 'qwen']);
    expect(named({ own: { all: true } })).toEqual(['kimi', 'qwen', 'spare']);
    expect(placementsNamed({ fleet: rackOfThree }, 'qwen').map(({ nodes }) => nodes)).toEqual([
      ['studio-3', 'studio-2'],
    ]);
  });

  it('can be all replicas of a model, in the order of `nodes`, or a single replica', () => {
    const [one, ...rest] = rackOfThree.placements;
    if (one === undefined) throw new Error('the rack has no placements');
    const replicas = ['b', 'a'].map((node, at) => ({ ...one, name: `chat-${node}`, replica: { of: 'chat', at } }));
    const fleet = { ...rackOfThree, placements: [...replicas, ...rest].toReversed() };
    expect(placementsNamed({ fleet }, 'chat').map(({ name }) => name)).toEqual(['chat-b', 'chat-a']);
    expect(named({ words: ['chat'] }, fleet).toSorted()).toEqual(['chat-a', 'chat-b']);
    expect(named({ words: ['chat-a'] }, fleet)).toEqual(['chat-a']);
    expect(hintFor(() => named({ words: ['chat-c'] }, fleet))).toContain('select/unknown-placement');
  });

  it.each([
    [{}, 'cli/usage: Name placements (kimi, qwen, spare), or add --all.'],
    [{ words: ['kimi'], own: { all: true } }, 'cli/usage: Leave out one of them.'],
    [{ words: ['kimmi'] }, 'select/unknown-placement: Did you mean `kimi`?'],
    [{ words: ['studio-2'] }, 'select/unknown-placement: Placements on this node: kimi and qwen.'],
    [{ words: ['elsewhere'] }, 'select/unknown-placement: Name one (kimi, qwen, spare), or add --all.'],
  ])('are rejected with a suggestion: %j', (changes, hint) => {
    expect(hintFor(() => named(changes))).toBe(hint);
  });

  it('get a hint to use apply, or --sim, if they were never applied', () => {
    const fleet = { ...rackOfThree, placements: [] };
    const hint = (isRehearsed: boolean, changes: Partial<Run>) =>
      hintFor(() => namedPlacements(fakeRun(changes).run, { fleet, declared: rackOfThree, isRehearsed }));
    const apply = 'Apply it first: meshwright apply';
    expect(hint(false, { words: ['kimi'] })).toBe(`select/never-applied: ${apply}`);
    expect(hint(true, { words: ['kimi'] })).toBe(
      `select/never-applied: A simulated fleet runs for this file. Did you mean --sim?\nOtherwise: ${apply}`,
    );
    expect(hint(false, { own: { all: true } })).toBe(
      ['kimi', 'qwen', 'spare'].map(() => `select/never-applied: ${apply}`).join('\n'),
    );
  });

  it('are rejected in a file without placements', () => {
    const empty = { ...rackOfThree, placements: [] };
    expect(hintFor(() => named({ own: { all: true } }, empty))).toBe('cli/usage: See: meshwright plan');
    expect(hintFor(() => named({}, empty))).toBe('cli/usage: The file has no placements.');
    expect(hintFor(() => placementsNamed({ fleet: empty }, 'studio-1'))).toBe(
      'select/unknown-placement: No placement uses this node.',
    );
  });
});

describe('Macs named by placements on them', () => {
  const opened = { fleet: rackOfThree, path: '/rack/cluster.yaml', lock: emptyLock('cluster.lock') };
  const cluster = { fleet: { ...rackOfThree, placements: [] }, opened } as unknown as SettledCluster;
  const members = async (...words: readonly string[]) =>
    (await namedMembers(fakeRun({ words }).run, cluster)).map(({ name }) => name);
  const problemOf = (...words: readonly string[]) =>
    members(...words).then(
      () => [],
      (error: FleetError) => error.diagnostics.map(({ code, detail, hint }) => [code, plainText(detail), hint]),
    );

  it('are the nodes of a placement, together with nodes named themselves', async () => {
    expect(await members('qwen')).toEqual(['studio-2', 'studio-3']);
    expect(await members('qwen', 'studio-4')).toEqual(['studio-2', 'studio-3', 'studio-4']);
    expect(await members('studio-1')).toEqual(['studio-1']);
  });

  it('are rejected with the nearest node or placement', async () => {
    const code = 'select/unknown-node';
    expect(await problemOf('qwem', 'studio-1')).toEqual([
      [code, 'The file has no node or placement `qwem`.', 'Did you mean `qwen`?'],
    ]);
    expect(await problemOf('studio1')).toMatchObject([[code, expect.anything(), 'Did you mean `studio-1`?']]);
    const all = 'studio-1, studio-2, studio-3, studio-4, kimi, qwen and spare';
    expect(await problemOf('elsewhere')).toMatchObject([
      [code, expect.anything(), `The nodes and placements are ${all}.`],
    ]);
  });
});
