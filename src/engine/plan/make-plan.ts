import type { DesiredFleet } from '../../model/desired.ts';
import { type Digest, digestOf, type Json } from '../../model/digest.ts';
import { compareText } from '../../model/lists.ts';
import type { NodeName } from '../../model/node.ts';
import { type Effect, type Step, stepId } from '../../model/step.ts';
import { bootSessionFact } from '../../rack/boot/fact.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { readValue } from '../../rack/fact.ts';
import { fleetMemory } from '../../rack/placement/check/placement-checks.ts';
import { fleetAsItStays } from '../../rack/placement/state/staying.ts';
import {
  type Blocker,
  changeOf,
  nodesOf,
  type ObservedTarget,
  type Property,
  type ResourceSteps,
  type View,
} from '../../rack/resource.ts';
import { fleetForGoal, type Goal, targetsForGoal } from '../goals/goal.ts';
import { type Scope, scopeOf } from '../goals/scope.ts';
import { type Held, judge, type Sifted } from './judge.ts';
import type { EffectTotal, ObservedNode, Plan } from './plan.ts';
import { byNode, connectSteps, orderSteps } from './step-order.ts';
import { toldFindings, unreachedOf, viewOf } from './view.ts';
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

function resourceSteps(scope: Scope, view: View, { ready }: Sifted): Required<ResourceSteps> {
  const made = scope.resources.map((resource): ResourceSteps => {
    const own = ready.filter(({ kind }) => kind === resource.kind).map(({ property }) => changeOf(property));
    return own.length === 0 ? { steps: [] } : resource.steps(own, view);
  });
  return { steps: made.flatMap(({ steps }) => steps), rescues: made.flatMap(({ rescues = [] }) => rescues) };
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
  const firstView = viewOf({ desired: scope.desired, observation, targets, restarting, endsDoormen, comingBack });
  const { view, assessed, sifted: judged } = judge(scope, firstView);
  const seen = view.targets.map((target) => target.desired.name);
  const sifted = restarting.length === 0 ? judged : withoutVainStops(judged, view);
  const lost = view.asked.filter((node) => !seen.includes(node));
  const properties = assessed.flatMap((one) => one.properties);
  const memory = fleetMemory(fleetAsItStays(view), observation);
  const blockers = workList(goal, assessed, sifted.held);
  const { steps: made, rescues } = resourceSteps(scope, view, sifted);
  const steps = orderSteps(connectSteps([...made, ...handsSteps(blockers)], properties, scope), scope.resources);
  return {
    formatVersion: 1,
    cluster: desired.name,
    configHash: configHash(desired),
    observed: Object.fromEntries(view.targets.map((one) => [one.desired.name, observedNode(one, properties)])),
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

type Ready = Sifted['ready'][number];

/**
 * The same without the stops that no restart would follow: a Mac that was not reached, or that has to wait, is not
 * restarted, and what runs beside it on other Macs stays as it is.
 */
function withoutVainStops({ ready, held }: Sifted, { restarting, targets, desired }: View): Sifted {
  const going = ready.filter(({ kind }) => kind === 'boot-session').map(({ property }) => property.node);
  const membersOf = ({ property }: Ready): readonly NodeName[] => {
    const placement = desired.placements.find(({ name }) => name === property.about.placement);
    return [...nodesOf(property), ...(placement?.nodes ?? [])];
  };
  const isVain = (one: Ready): boolean =>
    one.kind === 'placement' && !membersOf(one).some((node) => going.includes(node));
  const heldFor = (one: Ready): Held => {
    const waiting = restarting.filter((node) => membersOf(one).includes(node));
    const reasons = waiting.map((node) => ({
      text: `${node} cannot be restarted now`,
      isUnknown: !targets.some((target) => target.desired.name === node),
    }));
    return { ...one, reasons };
  };
  return {
    ready: ready.filter((one) => !isVain(one)),
    held: [...held, ...ready.filter(isVain).map(heldFor)],
  };
}

/** What a plan was made from on one node: when any of it differs at the next look, the plan is stale. */
function observedNode({ desired: { name }, facts }: ObservedTarget, properties: readonly Property[]): ObservedNode {
  const seen: [string, Json][] = properties
    .filter(({ node }) => node === name)
    .map(({ address, observed }) => [
      address,
      observed.kind === 'known' ? { value: observed.value } : { unknown: observed.reason },
    ]);
  return {
    bootSession: readValue(facts, bootSessionFact)?.uuid ?? null,
    hash: digestOf(Object.fromEntries(seen)),
  };
}

/** One step per entry of the work list that hands at the rack can do, so that preview, journal and runs carry it. */
function handsSteps(blockers: readonly Blocker[]): readonly Step[] {
  const hands = blockers.filter(({ isHands }) => isHands);
  return hands.map((blocker, index): Step => {
    const isSame = (one: Blocker): boolean => one.node === blocker.node && one.code === blocker.code;
    const earlier = hands.slice(0, index).filter(isSame).length;
    const name = `${blocker.node}/hands/${blocker.code.replace('/', '-')}`;
    return {
      id: stepId(earlier === 0 ? name : `${name}-${earlier + 1}`),
      node: blocker.node,
      resource: blocker.resource,
      class: 'manual',
      act: { kind: 'hands', code: blocker.code },
      effect: { kind: 'none' },
      changes: [],
      needs: [],
      peers: blocker.peers,
      establishes: [],
      // Nobody waits for it: the next observation shows whether it was done.
      deadlineMs: 0,
    };
  });
}

/** In the order in which they disturb. */
const kinds = ['start', 'network', 'rdma-start', 'interrupt', 'reboot', 'shutdown', 'delete'] as const;

const sortedOnce = <T extends string>(texts: readonly T[]): readonly T[] => [...new Set(texts)].toSorted(compareText);

const placementsOf = (effect: Effect): readonly string[] => [
  ...('placement' in effect ? [effect.placement] : []),
  ...('others' in effect ? (effect.others ?? []) : []),
];

/** One line per kind of effect that any of the steps has; empty when nothing is disturbed. */
function effectTotals(steps: readonly Step[]): readonly EffectTotal[] {
  return kinds.flatMap((kind): readonly EffectTotal[] => {
    const own = steps.filter(({ effect }) => effect.kind === kind);
    const effects = own.map(({ effect }) => effect);
    const seconds = effects.flatMap((one) => (one.kind === 'interrupt' ? [one.seconds] : []));
    const bytes = effects.reduce((sum, one) => sum + (one.kind === 'delete' ? one.bytes : 0), 0);
    return own.length === 0
      ? []
      : [
          {
            kind,
            nodes: sortedOnce(own.flatMap(({ node, peers }) => (kind === 'interrupt' ? [node, ...peers] : [node]))),
            placements: sortedOnce(effects.flatMap(placementsOf)),
            ...(seconds.length === 0 ? {} : { seconds: Math.max(...seconds) }),
            ...(kind === 'delete' ? { bytes } : {}),
          },
        ];
  });
}
