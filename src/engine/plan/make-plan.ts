import { plainText, reasonWords } from '../../diagnostics/prose-text.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { type Digest, digestOf, type Json } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { compareText } from '../../model/lists.ts';
import type { NodeName } from '../../model/node.ts';
import { type Effect, type Step, stepId } from '../../model/step.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { bootSessionFact } from '../../rack/boot/fact.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { readValue } from '../../rack/fact.ts';
import { fleetMemory } from '../../rack/placement/check/placement-checks.ts';
import { fleetAsItStays, stayingPlacements, stoppingRanks } from '../../rack/placement/state/staying.ts';
import {
  type Blocker,
  changeOf,
  type Gap,
  judgeProperty,
  nodesOf,
  type ObservedTarget,
  type Property,
  propertyKey,
  type Resource,
  type ResourceSteps,
  type View,
} from '../../rack/resource.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import { fleetForGoal, type Goal, type Scope, scopeOf, targetsForGoal } from '../goals/scope.ts';
import type { EffectTotal, ObservedNode, Plan, Reason, Waiting } from './plan.ts';
import { byNode, byResource, connectSteps, type Earlier, isUsedBy, kindsBefore, orderSteps } from './step-order.ts';
import { toldFindings, unreachedOf, viewOf } from './view.ts';

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

/**
 * A goal that is not the whole file speaks only of what stands in its way; sudo is missed, and a hold in the way, only
 * where something waits for it.
 */
const isListed = (goal: Goal, { blocks, code, resource }: Blocker): boolean =>
  blocks.length > 0 ||
  code === 'reboot/session-unknown' ||
  (goal.kind === 'converge' && resource !== 'sudo' && resource !== 'hold');

/** A ring of bridged Macs floods the office network, so that it comes before all else. */
const isRing = ({ code }: Pick<Blocker, 'code'>): boolean => code === 'bridge/loop';

/** The address of a property that the next apply brings by itself; undefined for any other blocker. */
const addressToBring = ({ property, isBroughtByApply }: Blocker): string | undefined =>
  isBroughtByApply === true ? property?.address : undefined;

/** One apply brings all that is missing on a node: one work, in which each of them is named. */
function gathered(blockers: readonly Blocker[]): readonly Blocker[] {
  const [first] = blockers;
  if (first === undefined || blockers.length === 1) return blockers;
  const once = (texts: readonly string[]): readonly string[] => [...new Set(texts)].toSorted(compareText);
  const addresses = blockers.flatMap((one) => addressToBring(one) ?? []);
  const peers = first.peers.filter((peer) => blockers.every((one) => one.peers.includes(peer)));
  return [
    { ...first, peers, action: convergeFirst(addresses), blocks: once(blockers.flatMap(({ blocks }) => blocks)) },
  ];
}

const gatheredByNode = (blockers: readonly Blocker[]): readonly Blocker[] => {
  const toBring = blockers.filter((one) => addressToBring(one) !== undefined);
  return blockers.flatMap((one) => {
    const alike = toBring.filter(({ node }) => node === one.node);
    if (!alike.includes(one)) return [one];
    return alike[0] === one ? gathered(alike) : [];
  });
};

/** The blockers with all that they keep waiting, in the order in which they should be cleared. */
function workList(goal: Goal, assessed: readonly Assessed[], held: readonly Held[]): readonly Blocker[] {
  const listed = assessed
    .flatMap((one) => one.blockers)
    .map((blocker): Blocker => {
      const own = held.filter(({ reasons }) => reasons.some((reason) => reason.blocker === blocker));
      return { ...blocker, blocks: own.map(({ property }) => propertyKey(property)).toSorted(compareText) };
    })
    .filter((blocker) => isListed(goal, blocker))
    .toSorted(
      (a, b) =>
        Number(isRing(b)) - Number(isRing(a)) ||
        byResource(a, b) ||
        compareText(a.code, b.code) ||
        compareText(plainText(a.action), plainText(b.action)),
    );
  return gatheredByNode(listed);
}

/** What is unknown by itself, whether or not anything has to wait for it. */
function openWaiting(goal: Goal, assessed: readonly Assessed[]): readonly Waiting[] {
  const gaps = goal.kind === 'converge' ? assessed.flatMap((one) => one.gaps) : [];
  return gaps
    .filter(({ resource }) => resource !== 'sudo')
    .map(({ node, resource, text }) => ({
      resource,
      about: { kind: resource },
      node,
      for: [{ text: `${text} is unknown`, isUnknown: true }],
      isUnknown: true,
    }));
}

/** Everything that cannot be brought to its desired state now, with its reasons. */
function waitingAll(goal: Goal, assessed: readonly Assessed[], held: readonly Held[]): readonly Waiting[] {
  const waiting = held.map(
    ({ property: { address, about, node }, reasons }): Waiting => ({
      resource: address,
      about,
      node,
      for: reasons.filter(({ text }, at) => reasons.findIndex((one) => one.text === text) === at),
      isUnknown: reasons.some(({ isUnknown }) => isUnknown),
    }),
  );
  return [...openWaiting(goal, assessed), ...waiting].toSorted(byNode);
}

/**
 * What can be changed now, and what waits. Whether a placement that is to be stopped or moved back from its fallback makes
 * room for others is known only when all that this waits for is: then everything is judged again beside those that stay.
 * Each round can only add to them, and only take from their ranks that are stopped each by itself.
 */
function judge(
  scope: Scope,
  view: View,
): { readonly view: View; readonly assessed: readonly Assessed[]; readonly sifted: Sifted } {
  // Asks every resource once, in the order in which a node is changed.
  const assessed = scope.resources.map((resource) => assess(resource, scope, view));
  const sifted = sift(assessed, scope, view);
  const changing = sifted.ready.map(({ property }) => property);
  const staying = stayingPlacements(view, changing);
  const stopping = staying.length === 0 ? [] : stoppingRanks(view, changing);
  const isSettled = staying.length === view.staying.length && stopping.length === view.stopping.length;
  return isSettled ? { view, assessed, sifted } : judge(scope, { ...view, staying, stopping });
}

/** A property that cannot be brought to its desired value now, with everything that it waits for. */
interface Held {
  readonly kind: ResourceKind;
  readonly property: Property;
  readonly reasons: readonly Reason[];
}

/** Properties that differ, by what becomes of them. */
interface Sifted {
  readonly ready: readonly { readonly kind: ResourceKind; readonly property: Property }[];
  readonly held: readonly Held[];
}

/** A reason with the place where it holds. */
interface Bar extends Earlier {
  readonly kind: ResourceKind;
  /** Whether it is about something that answers, which no restart may take down. */
  readonly isAtStake?: boolean;
  /** Whether it keeps properties of its own kind waiting as well. */
  readonly isOwn: boolean;
  readonly reason: Reason;
}

const unknownText = ({ address, node, observed, why }: Property): string =>
  `${address} on ${node} is unknown${observed.kind === 'unknown' ? ` (${why ?? reasonWords[observed.reason]})` : ''}`;

function blockerBar(blocker: Blocker): Bar {
  const { code, node, resource: kind, property } = blocker;
  const reason = { text: `${code} on ${node}`, isUnknown: false, blocker };
  return { kind, ...given({ property }), nodes: nodesOf(blocker), isOwn: true, reason };
}

const propertyBar = (kind: ResourceKind, property: Property, reason: Reason): Bar => ({
  kind,
  property,
  nodes: nodesOf(property),
  isAtStake: property.isAtStake === true,
  isOwn: false,
  reason,
});

/** Everything else on a node waits in a plan that begins by taking a change of its network back. */
function settledFirst(kind: ResourceKind, property: Property): readonly Bar[] {
  const text = `the unconfirmed network change on ${property.node}`;
  return kind === 'rollback' ? [propertyBar(kind, property, { text, isUnknown: false })] : [];
}

function barsOf({ resource: { kind }, properties, blockers, gaps }: Assessed, isBarring: boolean): readonly Bar[] {
  const unseen = isBarring ? properties.filter((property) => judgeProperty(property) === 'unknown') : [];
  return [
    ...blockers.map(blockerBar),
    ...gaps.map((gap): Bar => {
      const reason = { text: `${gap.text} on ${gap.node} is unknown`, isUnknown: true };
      return { kind, nodes: nodesOf(gap), isAtStake: true, isOwn: true, reason };
    }),
    ...unseen.map((property) => propertyBar(kind, property, { text: unknownText(property), isUnknown: true })),
  ];
}

/** A property with members that this run may not touch, or could not look at, waits for them. */
function absentReasons(property: Property, { asked, targets }: View): readonly Reason[] {
  return nodesOf(property).flatMap((node): readonly Reason[] => {
    if (!asked.includes(node)) return [{ text: `${node} is not among the targets`, isUnknown: false }];
    const isSeen = targets.some(({ desired }) => desired.name === node);
    return isSeen ? [] : [{ text: `${node} could not be observed`, isUnknown: true }];
  });
}

/** Two blockers of one code may stand on one node, as of its runtime and its model: each is a reason of its own. */
function eachOnce(reasons: readonly Reason[]): readonly Reason[] {
  const isFirst = ({ text, blocker }: Reason, index: number): boolean =>
    reasons.findIndex((other) => other.text === text && other.blocker === blocker) === index;
  return reasons.filter(isFirst);
}

/**
 * One Mac that is not the one of the file puts every other address of the file in doubt: nothing of the run is done.
 * A run that is limited to other nodes does not meet it.
 */
const stopsTheRun = ({ kind, reason: { blocker } }: Bar): boolean => kind === 'identity' && blocker !== undefined;

/** Whether a bar of this kind stands in the way of such a property, both on the same node. */
function isInTheWay(bar: Bar, { kind }: Resource, property: Property, before: readonly ResourceKind[]): boolean {
  if (bar.kind === kind) return bar.isOwn && (bar.property === undefined || bar.property.address === property.address);
  // Whatever a node is for, it is left alone.
  if (bar.kind === 'hold') return true;
  // What is seen of a node holds no longer once a change of its network is taken back.
  if (bar.kind === 'rollback' && !bar.reason.isUnknown) return kind !== 'identity' && kind !== 'sudo';
  // A hung placement cannot always be observed, and a restart is the way out of that.
  const isWayOut =
    kind === 'boot-session' && bar.kind === 'placement' && bar.reason.isUnknown && bar.isAtStake !== true;
  return before.includes(bar.kind) && !isWayOut;
}

function reasonsFor(
  bars: readonly Bar[],
  { resource, property }: { readonly resource: Resource; readonly property: Property },
  { scope, view }: { readonly scope: Scope; readonly view: View },
): readonly Reason[] {
  const before = property.after ?? kindsBefore(resource, scope.resources);
  const nodes = nodesOf(property);
  const isNear = (bar: Bar): boolean => bar.nodes.some((node) => nodes.includes(node));
  const isUsed = (bar: Bar): boolean => bar.kind === resource.kind || isUsedBy(property.about, bar, view.desired);
  const found = bars.filter(
    (bar) => stopsTheRun(bar) || (isNear(bar) && isUsed(bar) && isInTheWay(bar, resource, property, before)),
  );
  const reasons = found.map(({ reason }) => reason);
  const all = [...reasons, ...absentReasons(property, view)];
  // What is unknown by itself gains nothing from all the other unknowns that it would wait for.
  return judgeProperty(property) === 'unknown'
    ? eachOnce([{ text: unknownText(property), isUnknown: true }, ...all.filter(({ isUnknown }) => !isUnknown)])
    : eachOnce(all);
}

/**
 * Parts what can be changed now from what has to wait: for a blocker or an unknown of its own kind or of one that
 * comes before it, on its node or on one of its peers, and for all that those wait for.
 */
function sift(assessed: readonly Assessed[], scope: Scope, view: View): Sifted {
  const bars: Bar[] = [];
  const ready: Sifted['ready'][number][] = [];
  const held: Held[] = [];
  for (const one of assessed) {
    const { resource, properties } = one;
    const { kind } = resource;
    bars.push(...barsOf(one, scope.barring.includes(kind)));
    const candidates = properties.filter((own) => judgeProperty(own) !== 'met' && scope.isMeant(kind, own));
    for (const property of candidates) {
      const reasons = reasonsFor(bars, { resource, property }, { scope, view });
      if (reasons.length === 0) {
        ready.push({ kind, property });
        bars.push(...settledFirst(kind, property));
      } else {
        held.push({ kind, property, reasons });
        bars.push(...reasons.map((reason) => propertyBar(kind, property, reason)));
      }
    }
  }
  return { ready, held };
}

/** One resource with all that it says about the fleet. */
interface Assessed {
  readonly resource: Resource;
  /** All of them, whatever the goal. */
  readonly properties: readonly Property[];
  /** None, where the goal leaves the kind alone. */
  readonly blockers: readonly Blocker[];
  readonly gaps: readonly Gap[];
}

/** What is to be done about properties that a goal needs and does not change itself. */
const convergeFirst = (addresses: readonly string[]): Prose =>
  prose`Make ${addresses.join(', ')} match the file first: ${meshwright('apply')}`;

/** A goal that changes one kind only takes what is wrong with the others as a blocker. */
function unmetBlockers({ kind }: Resource, properties: readonly Property[]): readonly Blocker[] {
  return properties
    .filter((property) => judgeProperty(property) === 'differs')
    .map((property) => ({
      code: 'plan/not-converged',
      node: property.node,
      resource: kind,
      property,
      action: convergeFirst([property.address]),
      isBroughtByApply: true,
      isHands: false,
      peers: property.peers ?? [],
      blocks: [],
    }));
}

function assess(resource: Resource, scope: Scope, view: View): Assessed {
  const properties = resource.properties(view);
  if (!scope.barring.includes(resource.kind)) return { resource, properties, blockers: [], gaps: [] };
  const isAsked = (one: Blocker): boolean => nodesOf(one).some((node) => view.asked.includes(node));
  const others = properties.filter((property) => !scope.isMeant(resource.kind, property));
  return {
    resource,
    properties,
    blockers: [...(resource.blockers?.(view) ?? []).filter(isAsked), ...unmetBlockers(resource, others)],
    gaps: resource.gaps?.(view) ?? [],
  };
}
