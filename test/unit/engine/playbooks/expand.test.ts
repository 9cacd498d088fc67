import { describe, expect, it } from 'vitest';
import {
  batchesOf,
  expandTask,
  needsTargets,
  type PlayScope,
  playNodes,
} from '../../../../src/engine/playbooks/expand.ts';
import type { BatchSize, Play, Task } from '../../../../src/engine/playbooks/playbook.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { rackOfThree } from '../../../rack/placements.ts';

const names = (...words: string[]) => words.map(nodeName);
const everything = names('studio-1', 'studio-2', 'studio-3', 'studio-4');
const onTargets = (...words: string[]): PlayScope => ({ desired: rackOfThree, targets: names(...words) });
const scope = onTargets('studio-2');

const play = (changes: Partial<Play>): Play => ({
  nodes: { kind: 'all' },
  serial: [],
  maxFailures: 0,
  tasks: [],
  ...changes,
});
const counts = (...sizes: number[]): readonly BatchSize[] => sizes.map((count) => ({ kind: 'count', count }));

describe("a play's nodes", () => {
  it.each([
    [{ kind: 'all' }, everything],
    [{ kind: 'targets' }, names('studio-2')],
    [{ kind: 'names', names: names('studio-3', 'studio-1') }, names('studio-1', 'studio-3')],
    [{ kind: 'labels', labels: ['role=worker'] }, names('studio-4')],
    [{ kind: 'labels', labels: ['role!=worker'] }, names('studio-1', 'studio-2', 'studio-3')],
  ] as const)('come in file order for %j', (nodes, expected) => {
    expect(playNodes(play({ nodes }), scope)).toEqual(expected);
  });

  it('are required on the command line only if a play uses targets', () => {
    expect(needsTargets([play({}), play({ nodes: { kind: 'targets' } })])).toBe(true);
    expect(needsTargets([play({})])).toBe(false);
  });
});

describe('batches', () => {
  const sizes = (serial: readonly BatchSize[]) => batchesOf(play({ serial }), everything).map((batch) => batch.length);

  it('are a single batch without sizes, and do not exist without nodes', () => {
    expect(sizes([])).toEqual([4]);
    expect(batchesOf(play({}), [])).toEqual([]);
  });

  it('repeat the last size for the rest', () => {
    expect(sizes(counts(1))).toEqual([1, 1, 1, 1]);
    expect(sizes(counts(1, 2))).toEqual([1, 2, 1]);
    expect(sizes(counts(9))).toEqual([4]);
  });

  it('round a percentage up to at least one node', () => {
    expect(sizes([{ kind: 'percent', percent: 1 }])).toEqual([1, 1, 1, 1]);
    expect(sizes([{ kind: 'percent', percent: 51 }])).toEqual([3, 1]);
    expect(sizes([...counts(1), { kind: 'percent', percent: 100 }])).toEqual([1, 3]);
  });
});

describe('a playbook task', () => {
  const expand = (task: Task, about: PlayScope = scope) => expandTask(task, about, names('studio-2'));

  it("stops every placement with a rank on the nodes, on all of the placement's nodes", () => {
    expect(expand({ kind: 'stop' })).toEqual({
      kind: 'plan',
      goal: { kind: 'stop', placements: ['kimi', 'qwen'] },
      targets: everything,
    });
  });

  it('stops or starts the placements that it names, or else those on the command line', () => {
    const named: PlayScope = { ...onTargets('studio-2', 'studio-3'), placements: ['qwen'] };
    expect(expand({ kind: 'stop' }, named)).toMatchObject({
      goal: { kind: 'stop', placements: ['qwen'] },
      targets: names('studio-2', 'studio-3'),
    });
    expect(expand({ kind: 'start', placements: ['spare'] }, named)).toMatchObject({
      goal: { kind: 'start', placements: ['spare'] },
      targets: names('studio-4'),
    });
  });

  it('marks stopped placements that a later task starts, unless runtimes or models are installed in between', () => {
    const all = names('studio-1', 'studio-2', 'studio-3', 'studio-4');
    const backOf = (task: Task, ...later: readonly Task[]) => {
      const work = expandTask(
        task,
        scope,
        all,
        later.map((one) => ({ task: one, nodes: all })),
      );
      return work.kind === 'plan' && 'back' in work.goal ? work.goal.back : [];
    };
    const start: Task = { kind: 'start' };
    expect(backOf({ kind: 'stop' }, start)).toEqual(['kimi', 'qwen']);
    expect(backOf({ kind: 'stop', placements: ['qwen'] }, { kind: 'verify' }, start)).toEqual(['qwen']);
    expect(backOf({ kind: 'reboot' }, { kind: 'converge', only: ['wired-limit'] }, start)).toEqual(['kimi', 'qwen']);
    expect(backOf({ kind: 'stop' }, { kind: 'converge' }, start)).toEqual([]);
    expect(backOf({ kind: 'stop' }, { kind: 'converge', only: ['runtime', 'model'] }, start)).toEqual([]);
    expect(backOf({ kind: 'stop' })).toEqual([]);
    expect(backOf(start, { kind: 'stop' })).toEqual([]);
  });

  it('drains only published placements, with all nodes as targets', () => {
    const drain = { kind: 'drain', deadlineMs: 60_000 } as const;
    expect(expand(drain)).toEqual({
      kind: 'plan',
      goal: { kind: 'drain', placements: ['qwen'], waitMs: 60_000 },
      targets: names('studio-1', 'studio-2', 'studio-3', 'studio-4'),
    });
    expect(expandTask(drain, onTargets('studio-4'), names('studio-4'))).toMatchObject({
      goal: { placements: [] },
      targets: [],
    });
  });

  it('does not start a placement that the file sets to stopped, unless it is named', () => {
    const worker = onTargets('studio-4');
    expect(expandTask({ kind: 'start' }, worker, names('studio-4'))).toMatchObject({
      goal: { kind: 'start', placements: ['kimi'] },
    });
    expect(expandTask({ kind: 'start' }, { ...worker, placements: ['spare'] }, names('studio-4'))).toMatchObject({
      goal: { kind: 'start', placements: ['spare'] },
    });
  });

  it("converges or verifies only the batch's nodes", () => {
    expect(expand({ kind: 'converge' })).toEqual({
      kind: 'plan',
      goal: { kind: 'converge' },
      targets: names('studio-2'),
    });
    expect(expand({ kind: 'converge', only: ['wired-limit'] })).toMatchObject({
      goal: { kind: 'converge', only: ['wired-limit'] },
    });
    expect(expand({ kind: 'verify' })).toEqual({ kind: 'verify', targets: names('studio-2') });
  });

  it.each(['reboot', 'shutdown'] as const)('targets all nodes on which ranks must stop for a %s', (kind) => {
    expect(expand({ kind })).toEqual({ kind: 'plan', goal: { kind, nodes: names('studio-2') }, targets: everything });
    const lonely = { ...scope, desired: { ...rackOfThree, placements: [] } };
    expect(expand({ kind }, lonely)).toMatchObject({ targets: names('studio-2') });
  });

  it('waits on every node of the placements that the file sets to serving', () => {
    expect(expand({ kind: 'wait', for: 'serving', deadlineMs: 1_000 })).toEqual({
      kind: 'wait',
      for: 'serving',
      nodes: everything,
      placements: ['kimi', 'qwen'],
      deadlineMs: 1_000,
    });
    expect(expand({ kind: 'wait', for: 'observed', deadlineMs: 1_000 })).toMatchObject({
      nodes: names('studio-2'),
      placements: [],
    });
  });

  it('fills its fields once, but no fields inside their values', () => {
    expect(expand({ kind: 'confirm', text: '{cluster}: {nodes} runs {placements}, {{nodes}' })).toEqual({
      kind: 'confirm',
      text: 'studio-rack: studio-2 runs kimi, qwen, {nodes}',
    });
    const odd = { ...scope, desired: { ...rackOfThree, name: '{nodes}' } };
    expect(expand({ kind: 'confirm', text: '{cluster}' }, odd)).toMatchObject({ text: '{nodes}' });
    expect(expand({ kind: 'assert', property: 'power/sleep', is: 0, says: '{nodes} sleeps' })).toMatchObject({
      says: 'studio-2 sleeps',
    });
  });

  it("fills a command's arguments one by one for each node", () => {
    const task: Task = {
      kind: 'run',
      command: ['printf', '{node} at {host}', '{nodes}'],
      unless: ['test', '{cluster}'],
      effect: 'none',
      deadlineMs: 60_000,
    };
    expect(expandTask(task, scope, names('studio-1', 'studio-2'))).toEqual({
      kind: 'run',
      commands: [
        {
          node: 'studio-1',
          command: ['printf', 'studio-1 at studio-1.lan', '{nodes}'],
          unless: ['test', 'studio-rack'],
        },
        {
          node: 'studio-2',
          command: ['printf', 'studio-2 at studio-2.lan', '{nodes}'],
          unless: ['test', 'studio-rack'],
        },
      ],
      effect: 'none',
      deadlineMs: 60_000,
    });
  });
});
