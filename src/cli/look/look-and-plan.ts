import { nodesToSee } from '../../desired/layouts.ts';
import type { Goal } from '../../engine/goals/goal.ts';
import { makePlan } from '../../engine/plan/make-plan.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { viewOf } from '../../engine/plan/view.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import { launchBudgets, type NodeBudget } from '../../rack/placement/start/launch-budgets.ts';
import type { Ways } from '../cluster/ways.ts';
import type { Run } from '../verb.ts';
import { type ObserveExtent, observeNodes } from './observe-fleet.ts';

/** What is to be brought about, where, and how the nodes are reached. */
export interface PlanWish {
  /** Settled. */
  readonly fleet: DesiredFleet;
  readonly ways: Ways;
  readonly goal: Goal;
  readonly targets: readonly NodeName[];
  /** How patient the look is; as for a verb that changes something where absent. */
  readonly extent?: Pick<ObserveExtent, 'firstByteMs'>;
}

/** A plan and the look that it was made from. */
export interface LookedPlan {
  readonly plan: Plan;
  readonly observation: FleetObservation;
  /** Of launches over RDMA, where any can come. */
  readonly budgets?: readonly NodeBudget[];
}

/** Observes the targets, and what else must be seen to judge them, and plans. */
export async function lookAndPlan(run: Run, wish: PlanWish): Promise<LookedPlan> {
  return planFrom(await observeNodes(run, nodesToSee(wish.fleet, wish.targets), wish.ways, wish.extent), wish);
}

/** Plans from a look that was had already. */
export function planFrom(observation: FleetObservation, { fleet, goal, targets }: PlanWish): LookedPlan {
  const plan = makePlan({ goal, desired: fleet, observation, targets });
  const budgets = launchBudgets(viewOf({ desired: fleet, observation, targets }));
  return { plan, observation, budgets };
}
