import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import type { StepReport } from '../../../../src/engine/plan/plan.ts';
import { known } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { StepOutcome } from '../../../../src/model/step.ts';
import {
  countRun,
  countUnchecked,
  endedStepLines,
  madeChangeLine,
  progressLine,
  type RunCounts,
  summaryText,
  uncheckedText,
  watchChanges,
} from '../../../../src/report/run/apply-text.ts';
import { blocker, change, emptyPlan, stepOn, waits } from '../../../rack/plans.ts';
import { desiredFleet, observedFleet } from '../../../rack/rack.ts';

const changes = [
  change('studio-1', 'power/sleep', 'sleeps after 10 min', 'never sleeps'),
  change('studio-1', 'thunderbolt-bridge', 'bridge0', 'removed'),
];
const both = changes.map(({ id }) => id);

const ended = (fields: Partial<StepReport>): readonly string[] =>
  endedStepLines({
    step: stepOn('studio-1', 'power/set', { changes: both }),
    outcome: 'changed',
    ms: 700,
    diagnostics: [],
    ...fields,
  });

describe("a step's line", () => {
  it('is omitted after success and for a step that never began', () => {
    expect(ended({})).toEqual([]);
    expect(ended({ outcome: 'unchanged' })).toEqual([]);
    expect(ended({ outcome: 'skipped' })).toEqual([]);
    expect(ended({ outcome: 'blocked' })).toEqual([]);
  });

  it('reports that a Mac restarted or was switched off', () => {
    const restart = (to: 'up' | 'off') =>
      stepOn('studio-1', 'reboot', { act: { kind: 'reboot', to, from: known('B0') }, class: 'once' });
    expect(ended({ step: restart('up'), ms: 34_000 })).toEqual(['studio-1 restarted 34 s']);
    expect(ended({ step: restart('off'), ms: 34_000 })).toEqual(['studio-1 switched off 34 s']);
  });

  it('reports a failure and its escaped reason', () => {
    const failure = diagnose('cli/cannot-write', { detail: 'No \u001bspace left.' });
    expect(ended({ outcome: 'failed', diagnostics: [failure] })).toEqual([
      'studio-1 power/set failed after 700 ms: No \\u{1b}space left',
    ]);
    expect(ended({ outcome: 'failed', diagnostics: [failure], rescues: 'kimi' })[0]).toContain('(cleaning up kimi)');
  });

  it('distinguishes an unknown result from success and failure', () => {
    expect(ended({ outcome: 'unknown' })).toEqual([
      'studio-1 power/set: result unknown until the node is observed again',
    ]);
    expect(ended({ outcome: 'interrupted' })).toEqual(['studio-1 power/set was interrupted']);
  });

  it("shows a long step's progress", () => {
    const fetch = stepOn('studio-3', 'model/kimi-k2/fetch');
    expect(progressLine(fetch, { doneBytes: 412e9, totalBytes: 735e9 })).toBe(
      'studio-3 model/kimi-k2/fetch 56 % 412 GB of 735 GB',
    );
    expect(progressLine(fetch, { text: 'rank 2 is not listening' })).toBe(
      'studio-3 model/kimi-k2/fetch rank 2 is not listening',
    );
    expect(progressLine(fetch, { doneBytes: 0, totalBytes: 0 })).toBe('studio-3 model/kimi-k2/fetch');
  });
});

describe("a change's line", () => {
  const [sleep, bridge] = changes;
  const ids = changes.map(({ id }) => id);
  const set = stepOn('studio-1', 'set', { changes: ids });
  const gate = stepOn('studio-1', 'gate', { changes: ids.slice(0, 1) });

  it('is printed once, after its last step', () => {
    const watch = watchChanges({ changes, steps: [set, gate] });
    expect(watch.ended({ step: set, outcome: 'changed' })).toEqual([bridge]);
    expect(watch.ended({ step: gate, outcome: 'unchanged' })).toEqual([sleep]);
    expect(watch.ended({ step: gate, outcome: 'unchanged' })).toEqual([]);
  });

  it('is omitted if nothing changed or a step failed', () => {
    const calm = watchChanges({ changes, steps: [set] });
    expect(calm.ended({ step: set, outcome: 'unchanged' })).toEqual([]);
    const broken = watchChanges({ changes, steps: [set, gate] });
    expect(broken.ended({ step: set, outcome: 'failed' })).toEqual([]);
    expect(broken.ended({ step: gate, outcome: 'changed' })).toEqual([]);
  });

  it('shows the new value and the duration', () => {
    const [first] = changes;
    if (first === undefined) throw new Error('the plan has no changes');
    expect(madeChangeLine({ change: first, ms: 700 })).toBe('studio-1 power/sleep changed (never sleeps) 700 ms');
  });
});

describe("a run's last line", () => {
  const counts: RunCounts = {
    changed: 9,
    failed: 0,
    unchanged: 31,
    left: 0,
    waiting: 0,
    blockers: 0,
    hands: 0,
    unseen: [],
  };

  it('counts results and reports "nothing left to do" only if observed', () => {
    expect(summaryText('done', counts)).toBe('Done: 9 changed, 31 already right. Checked again: nothing left to do.');
    expect(summaryText('done', counts, 'chat is stopped')).toContain('Checked again: chat is stopped.');
    expect(
      summaryText('partial', {
        ...counts,
        failed: 2,
        left: 1,
        waiting: 3,
        blockers: 1,
        hands: 2,
        unseen: ['studio-2'],
      }),
    ).toBe(
      'Partly done: 9 changed, 2 failed, 31 already right. ' +
        'Remaining: 1 change, 3 changes waiting, 1 command to run first, 2 manual steps at the rack. ' +
        'Not reached: studio-2.',
    );
  });

  it('has no counts if no node was reached', () => {
    const ends = ['hands needed', 'apply needed', 'blocked', 'nothing changed'] as const;
    const none = { ...counts, changed: null, unchanged: null };
    const texts = ['Manual steps needed.', 'Apply needed first.', 'Blocked.', 'Nothing changed.'];
    expect(ends.map((end) => uncheckedText(end, none))).toEqual(texts);
    const nothing = { ...counts, changed: null, failed: null, unchanged: null, unseen: ['studio-1'] };
    expect(summaryText('failed', nothing)).toBe('Failed. Not reached: studio-1.');
  });

  it("counts an interrupted run's changes only if all their steps finished", () => {
    const set = stepOn('studio-1', 'set', { changes: both });
    const gate = stepOn('studio-1', 'gate', { changes: both.slice(0, 1) });
    const plan = emptyPlan({ changes, steps: [set, gate] });
    const text = (first: StepOutcome, second: StepOutcome): string => {
      const steps = [
        { step: set, outcome: first },
        { step: gate, outcome: second },
      ];
      return uncheckedText('interrupted', countUnchecked([{ plan, run: { steps } }], []));
    };
    const again = 'Run the same command again to continue.';
    expect(text('interrupted', 'interrupted')).toBe(`Interrupted. ${again}`);
    expect(text('changed', 'interrupted')).toBe(
      `Interrupted: 1 changed (reported by the steps, not checked again). ${again}`,
    );
    expect(text('changed', 'unchanged')).toBe(
      `Interrupted: 2 changed (reported by the steps, not checked again). ${again}`,
    );
  });

  const countsAfter = (last: Parameters<typeof emptyPlan>[0]) =>
    countRun({
      planned: changes,
      last: emptyPlan(last),
      desired: desiredFleet(),
      observation: observedFleet(),
      targets: ['studio-1', 'studio-2', 'studio-3', 'studio-4'].map(nodeName),
    });

  it('counts a change only if the final check observed it', () => {
    const all = countsAfter({});
    expect(all).toMatchObject({ changed: 2, failed: 0, left: 0, unseen: [] });
    expect(all.unchanged).toBeGreaterThan(10);
    expect(countsAfter({ changes: changes.slice(0, 1) })).toMatchObject({ changed: 1, failed: 1, left: 1 });
    const waiting = [waits('power/sleep', 'studio-1', [], true)];
    expect(countsAfter({ waiting })).toMatchObject({ changed: 1, failed: 1, waiting: 1 });
    expect(countsAfter({ blockers: [blocker('studio-3')] })).toMatchObject({ blockers: 0, hands: 1 });
  });

  it('does not count changes on a node missing from the final check', () => {
    const { 'studio-1': _lost, ...observed } = emptyPlan().observed;
    expect(countsAfter({ observed })).toMatchObject({ changed: null, failed: 2, unseen: ['studio-1'] });
  });
});
