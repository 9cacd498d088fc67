import { describe, expect, it } from 'vitest';
import { batchesOf, tooSmallSizes, unitsOf } from '../../../../src/engine/playbooks/batches.ts';
import type { BatchSize, Play, Task } from '../../../../src/engine/playbooks/playbook.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { placed } from '../../../rack/placements.ts';
import { desiredFleet, desiredNode, links } from '../../../rack/rack.ts';

const macs = Array.from({ length: 8 }, (_, at) => `studio-${at + 1}`);
const all = macs.map(nodeName);
const on = (...numbers: number[]) => numbers.map((number) => nodeName(`studio-${number}`));
const names = (...numbers: number[]) => numbers.map((number) => `studio-${number}`);

/** Eight Macs: a pair, two placements that share studio-4, a single Mac, and a stopped placement on all. */
const fleet = desiredFleet({
  nodes: macs.map((name) => desiredNode(name)),
  placements: [
    placed('pair', names(1, 2)),
    placed('left', names(3, 4)),
    placed('right', names(4, 6)),
    placed('single', names(7)),
    placed('spare', macs, { state: 'stopped' }),
  ],
});

const reboot: readonly Task[] = [{ kind: 'reboot' }, { kind: 'start' }];
const quiet: readonly Task[] = [{ kind: 'verify' }];
const counts = (...sizes: number[]): readonly BatchSize[] => sizes.map((count) => ({ kind: 'count', count }));
const unit: readonly BatchSize[] = [{ kind: 'unit' }];
const play = (changes: Partial<Play>): Play => ({
  ...{ nodes: { kind: 'all' }, serial: [], maxFailures: 0, tasks: reboot },
  ...changes,
});
const batches = (changes: Partial<Play>, nodes = all) =>
  batchesOf(play(changes), nodes, fleet).map((batch) => batch.map((name) => name.slice(-1)).join(''));

describe('units', () => {
  it('join the Macs of placements that share a Mac', () => {
    expect(unitsOf(all, fleet).map(({ nodes, placements }) => [nodes, placements])).toEqual([
      [on(1, 2), ['pair']],
      [on(3, 4, 6), ['left', 'right']],
      [on(5), []],
      [on(7), ['single']],
      [on(8), []],
    ]);
  });

  it('join Macs through a Mac that is not among the nodes', () => {
    expect(unitsOf(on(3, 6), fleet).map(({ nodes }) => nodes)).toEqual([on(3, 6)]);
  });

  it("include a fallback's Macs", () => {
    const fallback = { nodes: on(8), contextTokens: 1 };
    const placements = fleet.placements.map((one) => (one.name === 'pair' ? { ...one, fallback } : one));
    expect(unitsOf(all, { placements })[0]?.nodes).toEqual(on(1, 2, 8));
  });
});

describe('batches of a play that stops placements', () => {
  it('are whole units, even if their Macs are not neighbors in the file', () => {
    expect(batches({ serial: unit })).toEqual(['12', '346', '5', '7', '8']);
    expect(batches({ serial: counts(3) })).toEqual(['12', '346', '578']);
    expect(batches({ serial: counts(4) })).toEqual(['12', '3456', '78']);
    expect(batches({ serial: [...unit, { kind: 'percent', percent: 50 }] })).toEqual(['12', '3456', '78']);
    expect(batches({})).toEqual(['12345678']);
  });

  it('are never divided, even if a size is too small', () => {
    expect(batches({ serial: counts(1) })).toEqual(['12', '346', '5', '7', '8']);
  });

  it('have one unit with serving placements at most, if the play respects placements', () => {
    expect(batches({ respect: 'placements' })).toEqual(['12', '3456', '78']);
    expect(batches({ respect: 'placements', tasks: quiet })).toEqual(['12', '3456', '78']);
    expect(batches({ respect: 'placements', serial: counts(2), tasks: quiet })).toEqual(['12', '34', '56', '78']);
  });

  it('contain all cabled Macs if macOS is updated, those that serve first', () => {
    const cabled = { ...fleet, thunderbolt: { ...fleet.thunderbolt, links: links(['studio-5:1 <-> studio-8:1']) } };
    const placements = fleet.placements.filter(({ state }) => state === 'serving');
    const of = (serial: readonly BatchSize[]) => play({ serial, tasks: [{ kind: 'upgrade', what: 'macos' }] });
    expect(batchesOf(of(unit), all, { ...cabled, placements })).toEqual([on(1, 2), on(3, 4, 6), on(7), on(5, 8)]);
    expect(tooSmallSizes(of(counts(3, 1)), all, { ...cabled, placements }).map(({ unit: one }) => one.nodes)).toEqual([
      on(3, 4, 6),
    ]);
  });

  it.each([
    [{ kind: 'converge' }, true],
    [{ kind: 'converge', only: ['power', 'wired-limit'] }, false],
    [{ kind: 'converge', only: ['power', 'link-address'] }, true],
    [{ kind: 'run', command: ['true'], effect: 'network', deadlineMs: 1 }, true],
    [{ kind: 'run', command: ['true'], effect: 'none', deadlineMs: 1 }, false],
    [{ kind: 'stop' }, true],
    [{ kind: 'shutdown' }, true],
    [{ kind: 'recover' }, true],
    [{ kind: 'upgrade', what: 'runtimes' }, true],
    [{ kind: 'start' }, false],
  ] as const)('depend on the task: %j', (task, isWhole) => {
    expect(batches({ serial: counts(1), tasks: [task] })).toHaveLength(isWhole ? 5 : 8);
  });
});

describe('a size that is too small', () => {
  const small = (serial: readonly BatchSize[], tasks = reboot) =>
    tooSmallSizes(play({ serial, tasks }), all, fleet).map(({ at, room, unit: one }) => [at, room, one.nodes]);

  it('is reported once, with the first unit that it would divide', () => {
    expect(small(counts(1))).toEqual([[0, 1, on(1, 2)]]);
    expect(small(counts(2))).toEqual([[0, 2, on(3, 4, 6)]]);
    expect(small(counts(1, 2))).toEqual([
      [0, 1, on(1, 2)],
      [1, 2, on(3, 4, 6)],
    ]);
    expect(small([{ kind: 'percent', percent: 25 }])).toEqual([[0, 2, on(3, 4, 6)]]);
  });

  it('is no problem for whole units, without sizes, or if nothing stops', () => {
    expect(small(unit)).toEqual([]);
    expect(small(counts(2, 3))).toEqual([]);
    expect(small([])).toEqual([]);
    expect(small(counts(1), quiet)).toEqual([]);
  });
});
