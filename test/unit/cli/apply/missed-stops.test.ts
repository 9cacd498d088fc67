import { describe, expect, it } from 'vitest';
import type { PlaybookWork } from '../../../../src/apply/playbook-report.ts';
import { checkGoal } from '../../../../src/cli/apply/final-check.ts';
import { codeForPlan, nodesSentOff, remainingWork, withMissedStops } from '../../../../src/cli/apply/run-outcome.ts';
import type { Plan, Waiting } from '../../../../src/engine/plan/plan.ts';
import type { ScriptCall } from '../../../../src/model/node-script.ts';
import type { Step, StepOutcome } from '../../../../src/model/step.ts';
import { meshFleet, rackOfThree, threeRanks } from '../../../rack/placements.ts';
import { blocker, change, emptyPlan, placedObservation, stepOn, waits } from '../../../rack/plans.ts';
import { all, runOf, stepReport, workOf } from './works.ts';

const held = blocker('studio-3', { code: 'hold/held', resource: 'hold', action: 'held', isHands: false });
const kimi = (isUnknown: boolean): Waiting => waits('placement/kimi', 'studio-1', ['hold/held on studio-3'], isUnknown);
const kept = emptyPlan({ waiting: [kimi(false)], blockers: [held] });
const unseen = emptyPlan({ waiting: [kimi(true)] });

const work = (kind: 'stop' | 'start' | 'reboot' | 'shutdown', plan: Plan): PlaybookWork =>
  workOf({ task: { kind }, plan });

const lastOf = (...works: readonly PlaybookWork[]): Plan => withMissedStops(emptyPlan(), { works });
const codeOf = (plan: Plan) =>
  codeForPlan({ goal: 'start', plan, observation: { nodes: {}, failures: {} }, fleet: rackOfThree, targets: all });

describe('the final check after a restart', () => {
  it('lists each blocker of the stop once, and does not count as a success', () => {
    const last = lastOf(work('stop', kept), work('stop', kept), work('start', emptyPlan()));
    expect([last.waiting, last.blockers]).toEqual([kept.waiting, kept.blockers]);
    expect([codeOf(last), codeOf(lastOf(work('stop', unseen)))]).toEqual([3, 1]);
  });

  it('lists only blockers that prevented the stop', () => {
    const last = lastOf(work('stop', emptyPlan({ blockers: [held] })), work('start', kept));
    expect([last, codeOf(last)]).toEqual([emptyPlan(), 0]);
  });

  it('lists the blockers of a reboot', () => {
    const last = lastOf(work('reboot', kept), work('start', emptyPlan()));
    expect([last.blockers, codeOf(last)]).toEqual([kept.blockers, 3]);
  });
});

describe('the final check after the reboot of one Mac in a mesh', () => {
  const [target] = all;
  if (target === undefined) throw new Error('the rack has a Mac');
  const desired = meshFleet();
  const scope = { desired, targets: [target] };
  const goal = { kind: 'start', placements: ['kimi'], near: [target] } as const;

  it('reports a failed start as a change, not as manual steps', () => {
    const observation = placedObservation({ of: desired, ranks: threeRanks(['stopped', 'stopped', 'stopped']) });
    const { last } = checkGoal(goal, scope)({ observation, works: [] });
    expect(last?.plan.changes.map(({ resource }) => resource)).toEqual(['placement/kimi']);
    expect(last && codeForPlan(last)).toBe(1);
  });
});

describe('the final check after an incomplete stop', () => {
  const stops = change('studio-1', 'placement/kimi', 'serving', 'stopped');
  const stop: ScriptCall = { name: 'stop-rank', args: { placement: 'kimi', graceMs: 1 } };
  const args = { placement: 'kimi', generation: 1, transport: 'tcp', startMs: 1 } as const;
  const kick: ScriptCall = { name: 'kick-rank', args };
  const ran = (kind: 'stop' | 'start', call: ScriptCall, outcome: StepOutcome): PlaybookWork => {
    const act = { kind: 'script', ...call } as const;
    const rank = stepOn('studio-2', `placement/kimi/${kind}`, { act, changes: kind === 'stop' ? [stops.id] : [] });
    const plan = emptyPlan({ changes: kind === 'stop' ? [stops] : [] });
    return { ...work(kind, plan), run: runOf(stepReport(rank, outcome)) };
  };

  it.each<[string, readonly PlaybookWork[], Plan['changes']]>([
    ['a skipped stop', [ran('stop', stop, 'skipped'), work('start', emptyPlan())], [stops]],
    ['a failed stop', [ran('stop', stop, 'failed')], [stops]],
    ['no completed stop', [ran('stop', stop, 'changed')], []],
    ['no stop of a placement started again', [ran('stop', stop, 'failed'), ran('start', kick, 'changed')], []],
    ['no start of unknown outcome', [ran('start', kick, 'unknown')], []],
  ])('lists %s as remaining', (_, works, left) => {
    expect(lastOf(...works).changes).toEqual(left);
    const seen = emptyPlan({ changes: [stops] });
    expect(withMissedStops(seen, { works }).changes).toEqual([stops]);
  });
});

describe('a run without a final check', () => {
  it('reports the blockers of the run, if there are any', () => {
    const { waiting, blockers } = kept;
    const works = [work('shutdown', kept), work('shutdown', kept)];
    expect(remainingWork({ works })).toEqual({ changes: [], waiting, blockers });
    expect(remainingWork({ works: [work('shutdown', emptyPlan())] })).toBeUndefined();
  });
});

describe('the Macs that a run shuts down', () => {
  const off = stepOn('studio-3', 'shutdown', {
    act: { kind: 'reboot', to: 'off', from: { kind: 'known', value: 'BOOT-3' } },
  });
  const shutDownBy = (outcome: StepOutcome, ms: number, of: Step = off): readonly string[] => {
    const run = runOf(stepReport(of, outcome, ms));
    return nodesSentOff({ works: [{ ...work('shutdown', emptyPlan()), run }] });
  };

  it.each<[StepOutcome, number]>([
    ['changed', 9],
    ['unchanged', 0],
    ['failed', 9],
    ['unknown', 9],
    ['interrupted', 9],
  ])('include a Mac whose step has begun: %s', (outcome, ms) => {
    expect(shutDownBy(outcome, ms)).toEqual(['studio-3']);
  });

  it('exclude Macs whose step has not begun or is a reboot', () => {
    const restart = stepOn('studio-3', 'reboot', {
      act: { kind: 'reboot', to: 'up', from: { kind: 'known', value: 'BOOT-3' } },
    });
    for (const outcome of ['skipped', 'blocked', 'interrupted'] as const) expect(shutDownBy(outcome, 0)).toEqual([]);
    expect(shutDownBy('changed', 9, restart)).toEqual([]);
    expect(nodesSentOff({ works: [work('shutdown', kept)] })).toEqual([]);
  });
});
