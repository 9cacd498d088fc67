import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { undoText } from '../../../../src/engine/plan/undo.ts';
import { viewOf } from '../../../../src/engine/plan/view.ts';
import { known } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { Goal } from '../../../../src/rack/goal.ts';
import { anyDigest, change, stepOn } from '../../../rack/plans.ts';
import { desiredFleet, observedFleet } from '../../../rack/rack.ts';

const desired = desiredFleet();
const view = viewOf({ desired, observation: observedFleet(), targets: desired.nodes.map(({ name }) => name) });
const nodes = [nodeName('studio-1'), nodeName('studio-2')];
const step = stepOn('studio-1', 'power');

const undoOf = (goal: Goal, parts: Partial<Parameters<typeof undoText>[1]> = {}) => {
  const text = undoText(goal, { steps: [step], changes: [], effects: [], ...parts }, view);
  return text && plainText(text);
};

describe('the last sentence of a plan', () => {
  it.each<readonly [goal: Goal, undo: string]>([
    [{ kind: 'start', placements: ['kimi'] }, 'To undo: meshwright stop kimi'],
    [{ kind: 'stop', placements: ['kimi'] }, 'To undo: meshwright start kimi'],
    [
      { kind: 'stop', placements: ['kimi'], back: ['kimi'] },
      'There is nothing to undo: what this stops is started again.',
    ],
    [{ kind: 'drain', placements: ['kimi'], waitMs: 1 }, 'To undo: meshwright start kimi'],
    [{ kind: 'continue', placements: ['kimi'] }, 'There is nothing to undo: the ranks only continue.'],
    [{ kind: 'reboot', nodes }, 'A restart of a Mac cannot be undone.'],
    [{ kind: 'shutdown', nodes }, 'To undo: turn on studio-1,2.'],
    [
      { kind: 'hold', nodes, hold: { reason: 'power supply', by: 'ops', since: '2026-11-30' } },
      'To undo: meshwright release studio-1 studio-2',
    ],
    [{ kind: 'hold', nodes }, 'To undo: meshwright hold studio-1 studio-2'],
    [{ kind: 'verify-models', names: ['m'] }, 'There is nothing to undo: models are only read.'],
    [{ kind: 'list-folders', names: ['m'] }, 'There is nothing to undo: models are only read.'],
    [{ kind: 'install-runtime', names: ['mlx'] }, 'There is nothing to undo: nothing uses the installed version yet.'],
    [{ kind: 'list-packages', names: ['mlx'] }, 'To undo: delete the files that this makes next to the lock.'],
    [
      { kind: 'pull', names: ['m'], isDetached: false },
      'To undo: remove m from the file, then: meshwright models prune',
    ],
  ])('for %j says %s', (goal, undo) => {
    expect(undoOf(goal)).toBe(undo);
  });

  it('says that deleted models must be downloaded again, with their size', () => {
    const effects = [{ kind: 'delete' as const, nodes, placements: [], bytes: 400e9 }];
    expect(undoOf({ kind: 'prune' }, { effects })).toBe(
      'This cannot be undone: the models must be downloaded again (400 GB).',
    );
    const gone = { kind: 'uninstall' as const, nodes, placements: [], restore: false };
    expect([undoOf({ ...gone, models: true }, { effects }), undoOf({ ...gone, models: true })]).toEqual([
      'To undo: `meshwright enroll`, then `meshwright apply`; the models must be downloaded again (400 GB).',
      'To undo: `meshwright enroll`, then `meshwright apply`.',
    ]);
  });

  it('is absent if nothing changes on a node', () => {
    expect(undoOf({ kind: 'converge' }, { steps: [] })).toBeUndefined();
    const hands = { ...step, act: { kind: 'hands' as const, code: 'rdma/disabled' } };
    expect(undoOf({ kind: 'converge' }, { steps: [hands] })).toBeUndefined();
  });
});

describe('how to undo an apply', () => {
  const placed = change('studio-1', 'placement/kimi', 'stopped', 'serving');

  it('is the earlier file, and for settings of macOS the values before the first change', () => {
    expect(undoOf({ kind: 'converge' }, { changes: [placed] })).toBe('To undo: apply the previous file.');
    expect(undoOf({ kind: 'converge' }, { changes: [{ ...placed, kind: 'add' }] })).toBe(
      'To undo: apply the previous file, or `meshwright uninstall`.',
    );
    expect(undoOf({ kind: 'converge' }, { changes: [placed, change('studio-1', 'power/sleep', '10', '0')] })).toBe(
      'To undo: apply the previous file; macOS settings that it does not name return only with `meshwright uninstall --restore`.',
    );
  });

  it('names rollback if every changed node still has the version that it runs now', () => {
    const runtime = { ...desired.runtimes[0], name: 'mlx', digest: anyDigest };
    const update = nodes.map((node) => ({
      ...change(node, 'runtime/mlx', '0.31.3', '0.32.0'),
      about: { kind: 'runtime', name: 'mlx' },
    }));
    const tree = { kind: 'runtime', name: 'mlx', isCurrent: true, state: 'intact', whole: `cd${anyDigest.slice(2)}` };
    const on = (...having: readonly string[]) => ({
      ...view,
      desired: { ...desired, runtimes: [runtime] },
      targets: view.targets.map((target) => ({
        ...target,
        facts: { ...target.facts, trees: known(having.includes(target.desired.name) ? [tree] : []) },
      })),
    });
    const textWith = (seen: unknown) => {
      const text = undoText(
        { kind: 'converge' },
        { steps: [step], changes: update, effects: [] },
        seen as Parameters<typeof undoText>[2],
      );
      return text && plainText(text);
    };
    expect(textWith(on('studio-1', 'studio-2'))).toBe(
      'To undo: apply the previous file, or for mlx alone: `meshwright rollback mlx`.',
    );
    const undone = { ...runtime, rolledBackFrom: anyDigest };
    expect(textWith({ ...on(), desired: { ...desired, runtimes: [undone] } })).toBe(
      'To undo: meshwright rollback mlx --undo',
    );
    expect(textWith(on('studio-1'))).toBe('To undo: apply the previous file.');
  });
});
