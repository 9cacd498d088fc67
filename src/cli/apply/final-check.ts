import type { PlaybookReport } from '../../apply/playbook-report.ts';
import { fleetForGoal } from '../../engine/goals/registry.ts';
import { goalPlacements } from '../../engine/goals/scope.ts';
import { makePlan } from '../../engine/plan/make-plan.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { inFleetOrder, type PlayScope } from '../../engine/playbooks/expand.ts';
import type { NodeName } from '../../model/node.ts';
import type { Goal } from '../../rack/goal.ts';
import { type RunOutcome, withMissedStops } from './run-outcome.ts';

type Seen = Pick<PlaybookReport, 'works' | 'observation'>;

/** The nodes whose state determines the exit code, and a plan from their last observation, if there is one. */
export type FinalCheck = (report: Seen) => Pick<RunOutcome, 'targets' | 'last'>;

/**
 * A final check that finds nothing to do if the goal is reached.
 * @param judged by default the scope's targets
 */
export const checkGoal =
  (goal: Goal, scope: PlayScope, judged: (report: Seen) => readonly NodeName[] = () => scope.targets): FinalCheck =>
  (report) => {
    const { observation, works } = report;
    const targets = judged(report);
    if (observation === undefined) return { targets };
    const { desired } = scope;
    const planFor = (nodes: readonly NodeName[]): Plan => makePlan({ goal, desired, observation, targets: nodes });
    const own = planFor(targets);
    const last = { goal: goal.kind, observation, fleet: desired, targets };
    if (goal.kind !== 'start') return { targets, last: { ...last, plan: own } };
    // If a start waits only for nodes that are not judged, the check includes them.
    const isUnblocked = own.waiting.some(({ for: reasons }) =>
      reasons.every(({ isUnknown, blocker }) => !isUnknown && blocker === undefined),
    );
    const members = goalPlacements(goal, fleetForGoal(goal, desired, observation)).flatMap(({ nodes }) => nodes);
    const plan = isUnblocked ? planFor(inFleetOrder([...targets, ...members], scope)) : own;
    return { targets, last: { ...last, plan: withMissedStops(plan, { works }) } };
  };

/** The parts of a command whose only task is a goal, and whose final check is the same goal. */
export const reaching = (goal: Goal, scope: PlayScope) => ({ goal, scope, check: checkGoal(goal, scope) });
