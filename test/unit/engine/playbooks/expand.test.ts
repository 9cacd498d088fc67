import { describe, expect, it } from 'vitest';
import { batchesOf } from '../../../../src/engine/playbooks/batches.ts';
import {
  expandTask,
  needsTargets,
  type PlayScope,
  playNodes,
  tasksOf,
} from '../../../../src/engine/playbooks/expand.ts';
import type { BatchSize, Play, Task } from '../../../../src/engine/playbooks/playbook.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { rackOfThree } from '../../../rack/placements.ts';

const names = (...words: string[]) => words.map(nodeName);
const everything = names('studio-1', 'studio-2', 'studio-3', 'studio-4');
const onTargets = (...words: string[]): PlayScope => ({ desired: rackOfThree, targets: names(...words) });
const scope = onTargets('studio-2');

const play = (changes: Partial<Play>): Play => ({ nodes: { kind: 'all' }, ...given, ...changes });
const given = { serial: [], maxFailures: 0, tasks: [] };
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
  const sizes = (serial: readonly BatchSize[]) =>
    batchesOf(play({ serial }), everything, rackOfThree).map((batch) => batch.length);

  it('are one batch if no sizes are given, and empty if there are no nodes', () => {
    expect(sizes([])).toEqual([4]);
    expect(batchesOf(play({}), [], rackOfThree)).toEqual([]);
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
    const goal = { kind: 'stop', placements: ['kimi', 'qwen'] };
    expect(expand({ kind: 'stop' })).toEqual({ kind: 'plan', goal, targets: everything });
  });

  it('starts or stops placements where they run, unless they are named', () => {
    const fallback = { nodes: names('studio-1'), contextTokens: 1 };
    const placements = rackOfThree.placements.map((one) => (one.name === 'kimi' ? one : { ...one, fallback }));
    const about: PlayScope = { ...scope, desired: { ...rackOfThree, placements }, layout: 'own' };
    const stop = { kind: 'stop', placements: ['kimi', 'qwen'], near: names('studio-2') } as const;
    expect(expand({ kind: 'start' }, about)).toMatchObject({ goal: { ...stop, kind: 'start', layout: 'own' } });
    expect(expand({ kind: 'stop' }, about)).toMatchObject({ goal: stop });
    const named = { kind: 'stop', placements: ['qwen'] } as const;
    expect(expand(named, about)).toEqual(expect.objectContaining({ goal: named }));
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
    const backOf = (task: Task, ...later: readonly Task[]) => {
      const tasks = later.map((one) => ({ task: one, nodes: everything }));
      const work = expandTask(task, scope, everything, tasks);
      return work.kind === 'plan' && 'back' in work.goal ? work.goal.back : [];
    };
    const start: Task = { kind: 'start' };
    expect(backOf({ kind: 'stop' }, start)).toEqual(['kimi', 'qwen']);
    expect(backOf({ kind: 'stop', placements: ['qwen'] }, { kind: 'verify' }, start)).toEqual(['qwen']);
    expect(backOf({ kind: 'reboot' }, { kind: 'converge', only: ['wired-limit'] }, start)).toEqual(['kimi', 'qwen']);
    expect(backOf({ kind: 'stop' }, { kind: 'converge' }, start)).toEqual([]);
    expect(backOf({ kind: 'stop' }, { kind: 'converge', only: ['runtime', 'model'] }, start)).toEqual([]);
    expect(backOf({ kind: 'stop' }, { kind: 'converge', only: ['runtime'] }, start)).toEqual(['kimi', 'qwen']);
    expect(backOf({ kind: 'stop' }, { kind: 'converge' }, start, { kind: 'converge' })).toEqual([]);
    expect(backOf({ kind: 'stop' })).toEqual([]);
    expect(backOf(start, { kind: 'stop' })).toEqual([]);
  });

  it('restarts only placements that the file sets to serving', () => {
    const about = onTargets('studio-4');
    const stop = (task: Task) => expandTask(task, about, names('studio-4'));
    expect(stop({ kind: 'stop' })).toMatchObject({ goal: { placements: ['kimi', 'spare'] } });
    expect(stop({ kind: 'stop', isRestart: true })).toMatchObject({ goal: { placements: ['kimi'] } });
  });

  it('begins with the conditions of its play, and ends with its bake time', () => {
    const kindsOf = (changes: Partial<Play>) => tasksOf(play(changes)).map(({ kind }) => kind);
    const tasks: readonly Task[] = [{ kind: 'verify' }];
    expect(kindsOf({ tasks })).toEqual(['verify']);
    expect(kindsOf({ tasks, bakeMs: 1_000, sparesHung: true })).toEqual(['ready', 'verify', 'bake']);
    expect(kindsOf({ tasks, blockers: [{ requests: 0 }] })).toEqual(['ready', 'verify']);
    const blockers = [{ file: '/no-reboot' }, { command: ['check', '{node}'] }, { requests: 3 }, { requests: 2 }];
    const [ready] = tasksOf(play({ tasks, blockers }));
    expect(ready && expandTask(ready, scope, names('studio-2'))).toMatchObject({
      ...{ kind: 'ready', nodes: everything, placements: ['kimi', 'qwen'], requests: 2 },
      commands: [
        { node: 'studio-2', command: ['test', '!', '-e', '/no-reboot'] },
        { node: 'studio-2', command: ['check', 'studio-2'] },
      ],
    });
  });

  it('drains only published placements, with all nodes as targets', () => {
    const drain = { kind: 'drain', deadlineMs: 60_000 } as const;
    const goal = { kind: 'drain', placements: ['qwen'], waitMs: 60_000 };
    expect(expand(drain)).toEqual({ kind: 'plan', goal, targets: everything });
    const none = { goal: { placements: [] }, targets: [] };
    expect(expandTask(drain, onTargets('studio-4'), names('studio-4'))).toMatchObject(none);
  });

  it('does not start a placement that the file sets to stopped, unless it is named', () => {
    const started = (more: Partial<PlayScope> = {}) =>
      expandTask({ kind: 'start' }, { ...onTargets('studio-4'), ...more }, names('studio-4'));
    expect(started()).toMatchObject({ goal: { kind: 'start', placements: ['kimi'] } });
    expect(started({ placements: ['spare'] })).toMatchObject({ goal: { kind: 'start', placements: ['spare'] } });
  });

  it("converges or verifies only the batch's nodes", () => {
    const targets = names('studio-2');
    for (const goal of [{ kind: 'converge' }, { kind: 'converge', only: ['wired-limit'] }] as const) {
      expect(expand(goal)).toEqual({ kind: 'plan', goal, targets });
    }
    expect(expand({ kind: 'verify' })).toEqual({ kind: 'verify', targets });
  });

  it.each(['reboot', 'shutdown'] as const)('targets all nodes on which ranks must stop for a %s', (kind) => {
    expect(expand({ kind })).toEqual({ kind: 'plan', goal: { kind, nodes: names('studio-2') }, targets: everything });
    const lonely = { ...scope, desired: { ...rackOfThree, placements: [] } };
    expect(expand({ kind }, lonely)).toMatchObject({ targets: names('studio-2') });
  });

  it('waits on every node of the placements that the file sets to serving', () => {
    const serving = { kind: 'wait', for: 'serving', deadlineMs: 1_000 } as const;
    expect(expand(serving)).toEqual({ ...serving, nodes: everything, placements: ['kimi', 'qwen'] });
    expect(expand({ ...serving, for: 'observed' })).toMatchObject({ nodes: names('studio-2'), placements: [] });
  });

  it('fills its fields once, but no fields inside their values', () => {
    expect(expand({ kind: 'confirm', text: '{cluster}: {nodes} runs {placements}, {{nodes}' })).toEqual({
      kind: 'confirm',
      text: 'studio-rack: studio-2 runs kimi, qwen, {nodes}',
    });
    const odd = { ...scope, desired: { ...rackOfThree, name: '{nodes}' } };
    expect(expand({ kind: 'confirm', text: '{cluster}' }, odd)).toMatchObject({ text: '{nodes}' });
    expect(expand({ kind: 'pause', text: '10m' })).toEqual({ kind: 'pause', ms: 600_000 });
    expect(expand({ kind: 'assert', property: 'power/sleep', is: 0, says: '{nodes} sleeps' })).toMatchObject({
      says: 'studio-2 sleeps',
    });
  });

  it("fills a command's arguments one by one for each node", () => {
    const command = ['printf', '{node} at {host}', '{nodes}'];
    const task = { kind: 'run', effect: 'none', deadlineMs: 60_000 } as const;
    const filled = expandTask(
      { ...task, command, unless: ['test', '{cluster}'] },
      scope,
      names('studio-1', 'studio-2'),
    );
    const unless = ['test', 'studio-rack'];
    expect(filled).toEqual({
      ...task,
      commands: [
        { node: 'studio-1', command: ['printf', 'studio-1 at studio-1.lan', '{nodes}'], unless },
        { node: 'studio-2', command: ['printf', 'studio-2 at studio-2.lan', '{nodes}'], unless },
      ],
    });
  });
});
