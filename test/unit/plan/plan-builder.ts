import type { Goal } from '../../../src/engine/goals/goal.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import type { DesiredFleet } from '../../../src/model/desired.ts';
import { nodeName } from '../../../src/model/node.ts';
import { desiredFleet, observedFleet, type RackChanges } from '../doctor/fleet-builder.ts';
import { makePlan } from './made-plan.ts';

/** What a plan is made from; a healthy rack of four and the whole file unless told otherwise. */
export interface PlanCase {
  readonly desired?: DesiredFleet;
  readonly rack?: RackChanges;
  readonly goal?: Goal;
  readonly targets?: readonly string[];
}

/** The plan for a rack of four. */
export function planFor({ desired = desiredFleet(), rack = {}, goal = { kind: 'converge' }, targets }: PlanCase): Plan {
  const names = targets?.map(nodeName) ?? desired.nodes.map(({ name }) => name);
  return makePlan({ goal, desired, observation: observedFleet(rack), targets: names });
}

/** `studio-1 power/sleep`, in the order of the plan. */
export const changed = (plan: Plan): readonly string[] => plan.changes.map(({ id }) => id);

/** The ids of the steps, in their order. */
export const stepIds = (plan: Plan): readonly string[] => plan.steps.map(({ id }) => id);
