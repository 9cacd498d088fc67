import type { DesiredFleet } from '../../model/desired.ts';
import { type Digest, digestOf, type Json } from '../../model/digest.ts';
import type { NodeName } from '../../model/node.ts';
import { changeOf } from '../../rack/change.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import { fleetMemory } from '../../rack/placement/check/placement-checks.ts';
import { fleetAsItStays } from '../../rack/placement/state/staying.ts';
import type { ResourceSteps } from '../../rack/resource.ts';
import { fleetForGoal } from '../goals/fleet-for-goal.ts';
import type { Goal } from '../goals/goal.ts';
import { scopeOf } from '../goals/scope.ts';
import { targetsForGoal } from '../goals/targets-for-goal.ts';
import { connectSteps, orderSteps } from './connect-steps.ts';
import type { Context } from './context.ts';
import { effectTotals } from './effect-totals.ts';
import { toldFindings } from './finding-blockers.ts';
import { judge } from './judge.ts';
import { handsSteps } from './manual-steps.ts';
import { observedNodes } from './observed-nodes.ts';
import type { Plan } from './plan.ts';
import { byNode } from './resource-order.ts';
import type { Sifted } from './sift.ts';
import { unreachedOf } from './unreached.ts';
import { withoutVainStops } from './vain-stops.ts';
import { viewOf } from './view.ts';
import { waitingAll, workList } from './work-list.ts';

/** Everything that a plan follows from. */
export interface PlanRequest {
  readonly goal: Goal;
  /** Settled: with the networks of its links and the digests of its archives and models. */
  readonly desired: DesiredFleet;
  readonly observation: FleetObservation;
  /** The nodes that may be changed; all that the file has, unless the user chose. */
  readonly targets: readonly NodeName[];
}

/** Which Mac a node is was seen, and the shape of a model was read: both are nobody's wish. */
function configHash(desired: DesiredFleet): Digest {
  const nodes = desired.nodes.map(({ identity: _seen, ...node }) => node);
  const models = desired.models.map(({ shape: _, shapeUnknown: __, ...model }) => model);
  const { mayPassBudget: _typed, ...file } = desired;
  const value: Json = JSON.parse(JSON.stringify({ ...file, nodes, models }));
  return digestOf(value);
}

function resourceSteps({ scope, view }: Context, { ready }: Sifted): ResourceSteps {
  const made = scope.resources.map((resource): ResourceSteps => {
    const own = ready.filter(({ kind }) => kind === resource.kind).map(({ property }) => changeOf(property));
    return own.length === 0 ? { steps: [], rescues: [] } : resource.steps(own, view);
  });
  return { steps: made.flatMap(({ steps }) => steps), rescues: made.flatMap(({ rescues }) => rescues) };
}

/**
 * What is to be done to bring the targets to the goal, and what keeps the rest from being done. A pure value of its
 * arguments: the same whatever the order of their keys, and of nothing else.
 * @throws Error when a resource makes steps that cannot be ordered, which is a bug.
 */
export function makePlan({ goal, desired, observation, targets: named }: PlanRequest): Plan {
  const scope = scopeOf(goal, fleetForGoal(goal, desired, observation));
  const targets = targetsForGoal(goal, named, { fleet: scope.desired, seen: observation });
  const restarting = goal.kind === 'reboot' || goal.kind === 'shutdown' ? goal.nodes : [];
  const endsDoormen = goal.kind === 'converge' && goal.only?.includes('doorman') !== false;
  const comingBack = 'back' in goal ? (goal.back ?? []) : [];
  const {
    context,
    assessed,
    sifted: judged,
  } = judge(scope, viewOf({ desired: scope.desired, observation, targets, restarting, endsDoormen, comingBack }));
  const { view } = context;
  const seen = view.targets.map((target) => target.desired.name);
  const asked = { asked: restarting, seen, desired: view.desired };
  const sifted = restarting.length === 0 ? judged : withoutVainStops(judged, asked);
  const lost = view.asked.filter((node) => !seen.includes(node));
  const properties = assessed.flatMap((one) => one.properties);
  const memory = fleetMemory(fleetAsItStays(view), observation);
  const blockers = workList(goal, assessed, sifted.held);
  const { steps: made, rescues } = resourceSteps(context, sifted);
  const steps = orderSteps(connectSteps([...made, ...handsSteps(blockers)], properties, scope), scope.resources);
  return {
    formatVersion: 1,
    cluster: desired.name,
    configHash: configHash(desired),
    observed: observedNodes(view, properties),
    ...(lost.length === 0 ? {} : { unreached: unreachedOf(lost, observation) }),
    changes: sifted.ready.map(({ property }) => changeOf(property)).toSorted(byNode),
    steps,
    rescues,
    waiting: waitingAll(goal, assessed, sifted.held),
    blockers,
    effects: effectTotals(steps),
    ...(memory.length === 0 ? {} : { memory }),
    diagnostics: [...toldFindings(view), ...scope.resources.flatMap((one) => one.notices?.(view) ?? [])].filter(
      (one) => scope.isTold?.(one, view) ?? true,
    ),
  };
}
