import { describe, expect, it } from 'vitest';
import type { PlaybookReport, PlaybookWork } from '../../../../src/apply/playbook-report.ts';
import {
  codeForChecked,
  codeForPending,
  codeForPlan,
  exitOf,
  exitsOf,
  type JudgedPlan,
  newOffers,
  type RunOutcome,
} from '../../../../src/cli/apply/run-outcome.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import { known } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { StepOutcome } from '../../../../src/model/step.ts';
import { placementSubject } from '../../../../src/model/subject.ts';
import { rackOfThree } from '../../../rack/placements.ts';
import { blocker, change, emptyPlan, stepOn, waits } from '../../../rack/plans.ts';
import { all, runOf, stepReport, workOf } from './works.ts';

const without = (...names: string[]): Plan['observed'] =>
  Object.fromEntries(Object.entries(emptyPlan().observed).filter(([name]) => !names.includes(name)));

const judged = (plan: Plan, failures: JudgedPlan['observation']['failures'] = {}): JudgedPlan => ({
  goal: 'converge',
  plan,
  observation: { nodes: {}, failures },
  fleet: rackOfThree,
  targets: all,
});

const locked = { 'studio-1': [diagnose('ssh/locked-at-filevault', { detail: 'x' })] };
const waiting = (isUnknown: boolean) => [waits('power', 'studio-1', [], isUnknown)];

const cable = (...names: string[]) => names.map((name) => waits('thunderbolt-link', name, [], true));

const differs = (resource: string): Plan => emptyPlan({ changes: [change('studio-1', resource, 'a', 'b')] });
const withoutLast = { observed: without('studio-4'), waiting: cable('studio-1', 'studio-2', 'studio-3') };

describe("a plan's exit code", () => {
  it.each([
    ['an empty plan', judged(emptyPlan()), 0, 0, 0],
    ['only manual steps', judged(emptyPlan({ blockers: [blocker('studio-3')] })), 0, 3, 3],
    ['changes on some nodes', judged(differs('power')), 0, 2, 4],
    ['changes and manual steps', judged({ ...differs('power'), blockers: [blocker('studio-3')] }), 0, 2, 4],
    ['a placement that differs on every node', judged(differs('placement/kimi')), 0, 2, 1],
    ['an unknown property', judged(emptyPlan({ waiting: waiting(true) })), 4, 4, 4],
    ['nodes that only wait for an unreachable node', judged(emptyPlan(withoutLast)), 4, 4, 4],
    ['unknown cables although all nodes were observed', judged(emptyPlan({ waiting: cable(...all) })), 1, 1, 1],
    ['a change that waits for a manual step', judged(emptyPlan({ waiting: waiting(false) })), 0, 3, 3],
    ['an unreachable node', judged(emptyPlan({ observed: without('studio-1') })), 4, 4, 4],
    ['a node that is locked at FileVault', judged(emptyPlan({ observed: without('studio-1') }), locked), 0, 3, 3],
    ['no observed node', judged(emptyPlan({ observed: {} })), 1, 1, 1],
  ] as const)('differs for observations, drift and runs: %s', (_what, plan, look, pending, ran) => {
    expect([codeForChecked(plan), codeForPending(plan, []), codeForPlan(plan)]).toEqual([look, pending, ran]);
  });

  it('requires every node of a placement that should start', () => {
    const unseen = [waits('placement/kimi', 'studio-1', [], true)];
    const plan = judged(emptyPlan({ observed: without('studio-4'), waiting: unseen }));
    expect(codeForPlan(plan)).toBe(4);
    expect(codeForPlan({ ...plan, goal: 'start' })).toBe(1);
  });

  it('reports a pending change if only the lock is incomplete', () => {
    expect(codeForPending(judged(emptyPlan()), ['link a'])).toBe(2);
  });
});

/** A run that changed a setting of studio-1, or tried to. */
const setRun = (outcome: StepOutcome) => runOf(stepReport(stepOn('studio-1', 'power/set'), outcome));

/** A run that restarted studio-1, or tried to. */
const rebootRun = (outcome: StepOutcome) =>
  runOf(
    stepReport(
      stepOn('studio-1', 'reboot', { act: { kind: 'reboot', to: 'up', from: known('B0') }, class: 'once' }),
      outcome,
    ),
  );

function outcomeOf(
  work: Partial<PlaybookWork>,
  changes: Partial<RunOutcome> & { readonly ended?: Partial<PlaybookReport> } = {},
): RunOutcome {
  const { ended, ...rest } = changes;
  const report = { isStopped: false, isDeclined: false, isInterrupted: false, refusal: [], ...ended };
  return { targets: all, report: { works: [workOf(work)], nodes: all, ...report }, ...rest };
}

const fine = judged(emptyPlan());

describe("a run's exit code", () => {
  it('depends on the final check, not on the steps', () => {
    const run = setRun('failed');
    expect(exitOf(outcomeOf({ plan: emptyPlan(), run, failed: [nodeName('studio-1')] }, { last: fine }))).toBe(0);
    const good = setRun('changed');
    expect(exitOf(outcomeOf({ plan: emptyPlan(), run: good }, { last: judged(differs('power')) }))).toBe(4);
  });

  it('is an error code if a Mac did not restart, even if the Mac matches the file', () => {
    const run = rebootRun('failed');
    expect(exitOf(outcomeOf({ plan: emptyPlan(), run }, { last: fine }))).toBe(4);
  });

  it('is 3 while a Mac waits at FileVault, and 0 once it is unlocked', () => {
    const run = rebootRun('blocked');
    const waits = judged(emptyPlan({ observed: without('studio-1') }), locked);
    expect(exitOf(outcomeOf({ plan: emptyPlan(), run }, { last: waits }))).toBe(3);
    expect(exitOf(outcomeOf({ plan: emptyPlan(), run }, { last: fine }))).toBe(0);
  });

  it('is 75 if another run has the lease of a node', () => {
    const holder = { run: 'x', owner: 'ana@desk', verb: 'apply', phase: 'starting', since: '' };
    const refusals = [{ node: nodeName('studio-1'), holder }];
    expect(exitOf(outcomeOf({ refusals }, { ended: { isStopped: true }, last: fine }))).toBe(75);
  });

  it('is 5 if the user answered no and nothing was changed', () => {
    const declined = { isDeclined: true };
    expect(exitOf(outcomeOf({ plan: emptyPlan() }, { ended: declined, last: fine }))).toBe(5);
    const run = setRun('changed');
    expect(exitOf(outcomeOf({ plan: emptyPlan(), run }, { ended: declined }))).toBe(4);
  });

  it('is the code of the signal that interrupted the run', () => {
    const outcome = outcomeOf({ plan: emptyPlan() }, { ended: { isInterrupted: true }, interruptedBy: 143 });
    expect(exitOf(outcome)).toBe(143);
    expect(exitsOf(outcome)).toContain(143);
  });

  it('depends on the tasks if there is no final check', () => {
    expect(exitOf(outcomeOf({ plan: emptyPlan(), run: rebootRun('changed') }))).toBe(0);
    expect(exitOf(outcomeOf({ failed: all }))).toBe(1);
    expect(exitOf(outcomeOf({ failed: [nodeName('studio-1')] }))).toBe(4);
    expect(exitOf(outcomeOf({ plan: emptyPlan({ observed: without('studio-1') }) }))).toBe(4);
    expect(exitOf(outcomeOf({ plan: emptyPlan({ blockers: [blocker('studio-1')] }) }))).toBe(3);
    expect(exitOf(outcomeOf({ plan: emptyPlan({ waiting: waiting(true) }) }))).toBe(4);
    expect(exitOf(outcomeOf({}, { ended: { works: [] } }))).toBe(1);
  });

  it('is 3 if a blocker prevents a task, but 1 if a task fails', () => {
    const one = nodeName('studio-1');
    const kept = emptyPlan({ waiting: waiting(false) });
    const stop = { kind: 'stop' } as const;
    expect(exitOf(outcomeOf({ task: stop, plan: kept, failed: [one] }, { targets: [one] }))).toBe(3);
    const begun = { task: stop, plan: kept, run: setRun('failed'), failed: [one] };
    expect(exitOf(outcomeOf(begun, { targets: [one] }))).toBe(1);
    const converged = workOf({ plan: kept });
    const later: readonly Partial<PlaybookWork>[] = [
      { task: { kind: 'run', command: ['true'], effect: 'none', deadlineMs: 1 } },
      { task: { kind: 'assert', property: 'power/sleep', is: 1 } },
      { task: { kind: 'wait', for: 'serving', deadlineMs: 1 } },
      { task: { kind: 'verify' }, plan: { ...kept, changes: differs('power').changes } },
    ];
    for (const work of later) {
      const works = [converged, workOf({ ...work, failed: [one] })];
      expect(exitOf(outcomeOf({}, { targets: [one], ended: { works } }))).toBe(1);
      expect(exitOf(outcomeOf({}, { targets: [one], ended: { works: [converged, workOf(work)] } }))).toBe(3);
    }
  });
});

describe("a placement's fallback", () => {
  const offer = diagnose('mesh/fallback-there', { subject: placementSubject('kimi'), detail: 'x' });
  const offered = judged(emptyPlan({ diagnostics: [offer] }));

  it('is offered at the end of a run only if the plan did not offer it', () => {
    const run = setRun('failed');
    expect(newOffers(outcomeOf({ plan: emptyPlan(), run }, { last: offered }))).toEqual([offer]);
    expect(newOffers(outcomeOf({ plan: offered.plan, run }, { last: offered }))).toEqual([]);
    expect(newOffers(outcomeOf({ plan: emptyPlan() }, { last: offered }))).toEqual([]);
  });
});
