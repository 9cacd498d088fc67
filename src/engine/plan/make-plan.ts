import { hasTrait } from '../../diagnostics/diagnostic.ts';
import { plainText, reasonWords } from '../../diagnostics/prose-text.ts';
import type { DesiredFleet, RuntimeSource } from '../../model/desired.ts';
import { type Digest, digestOf, type Json } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { compareText } from '../../model/lists.ts';
import { everyNodeText, type NodeName } from '../../model/node.ts';
import { type Step, stepId } from '../../model/step.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { withMadeRuntimes } from '../../rack/artifacts/runtimes/list-packages.ts';
import { bootSessionFact } from '../../rack/boot/fact.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { readValue } from '../../rack/fact.ts';
import { type Goal, restartedNodes } from '../../rack/goal.ts';
import { fleetMemory } from '../../rack/placement/check/placement-checks.ts';
import { fleetAsItStays, stayingAfter } from '../../rack/placement/state/staying.ts';
import {
  type Blocker,
  changeOf,
  judgeProperty,
  nodesOf,
  type ObservedTarget,
  type Property,
  propertyKey,
  type Resource,
  type ResourceSteps,
  type UnobservedDependency,
  type View,
  viewWith,
} from '../../rack/resource.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import { entryOf } from '../diagnose/rules.ts';
import { pendingUpdates } from '../diagnose/update-states.ts';
import { fleetForGoal, scopeOf, targetsForGoal } from '../goals/registry.ts';
import type { Scope } from '../goals/scope.ts';
import { effectTotals } from './effect-totals.ts';
import type { EffectTotal, ObservedNode, Plan, Reason, Waiting } from './plan.ts';
import { byNode, byResource, connectSteps, type Earlier, isUsedBy, kindsBefore, orderSteps } from './step-order.ts';
import { undoText } from './undo.ts';
import { reportedFindings, unreachedOf, viewOf } from './view.ts';

export interface PlanRequest {
  readonly goal: Goal;
  /** The resolved file, with link networks and the digests of archives and models. */
  readonly desired: DesiredFleet;
  readonly observation: FleetObservation;
  /** The nodes that may be changed; all nodes in the file unless the user named some. */
  readonly targets: readonly NodeName[];
}

/** A source with a digest is the same in every folder. */
const withoutFolders = <Source extends RuntimeSource>({ archive, extras, ...source }: Source) => ({
  ...source,
  ...(source.sha256 === undefined || source.release !== undefined ? { archive } : {}),
  extras: extras.map(({ source: from, ...extra }) => (extra.sha256 === undefined ? { ...extra, from } : extra)),
});

/**
 * The digest covers only what the file declares, not node identities, model shapes, version names or this computer with
 * its folders.
 */
function configHash(desired: DesiredFleet): Digest {
  const nodes = desired.nodes.map(({ identity: _seen, ...node }) => node);
  const models = desired.models.map(({ shape: _, shapeUnknown: __, source, ...model }) => ({
    ...model,
    source: source.kind === 'controller' && model.digest !== undefined ? { kind: source.kind } : source,
  }));
  const runtimes = desired.runtimes.map(withoutFolders);
  const gateway = desired.gateway && withoutFolders(desired.gateway);
  const { mayPassBudget: _typed, unlocks: _able, nativeProgram: _compiled, versions: _names, ...file } = desired;
  const value: Json = JSON.parse(JSON.stringify({ ...file, nodes, models, runtimes, gateway }));
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
 * Plans how to bring the targets to the goal, and lists what blocks the remaining changes. A pure function of its
 * arguments that does not depend on their key order.
 * @throws Error if a resource makes steps that cannot be ordered, which is a bug.
 */
export function makePlan(request: PlanRequest): Plan {
  const plan = planWithout(request);
  const later = laterEffects(request, plan);
  const { goal, desired, observation } = request;
  const isWhole = goal.kind === 'converge' && goal.only === undefined;
  const updates = isWhole ? pendingUpdates(desired, observation) : undefined;
  return { ...plan, ...(later.length === 0 ? {} : { later }), ...given({ updates }) };
}

/** The effects of a later plan, after packages are listed or archives built, without the first plan's steps. */
function laterEffects(request: PlanRequest, { steps }: Plan): readonly EffectTotal[] {
  const { goal, desired } = request;
  const fleet = withMadeRuntimes(desired);
  if (goal.kind !== 'converge' || fleet === desired) return [];
  const own = new Set(steps.map(({ id }) => id));
  return effectTotals(planWithout({ ...request, desired: fleet }).steps.filter(({ id }) => !own.has(id)));
}

/** The plan without the effects of a later one. */
function planWithout({ goal, desired, observation, targets: named }: PlanRequest): Plan {
  const scope = scopeOf(goal, fleetForGoal(goal, desired, observation));
  const targets = targetsForGoal(goal, named, { desired: scope.desired, observation });
  const judged = judge(scope, viewOf({ desired: scope.desired, observation, targets, goal }));
  const { view, assessed } = judged;
  const seen = view.targets.map((target) => target.desired.name);
  const sifted = restartedNodes(goal).length === 0 ? judged.sifted : withoutVainStops(judged.sifted, view);
  const lost = view.asked.filter((node) => !seen.includes(node));
  const properties = assessed.flatMap((one) => one.properties);
  const memory = fleetMemory(fleetAsItStays(view), observation);
  const blockers = workList(goal, assessed, sifted.held);
  const { steps: made, rescues } = resourceSteps(scope, view, sifted);
  const steps = orderSteps(connectSteps([...made, ...handsSteps(blockers)], properties, scope), scope.resources);
  const changes = sifted.ready.map(({ property }) => changeOf(property)).toSorted(byNode);
  const effects = effectTotals(steps);
  return {
    formatVersion: 1,
    cluster: desired.name,
    configHash: configHash(desired),
    observed: Object.fromEntries(view.targets.map((one) => [one.desired.name, observedNode(one, properties)])),
    ...(lost.length === 0 ? {} : { unreached: unreachedOf(lost, observation) }),
    changes,
    steps,
    rescues,
    waiting: waitingAll(goal, assessed, sifted.held),
    blockers,
    effects,
    ...given({ undo: undoText(goal, { steps, changes, effects }, view) }),
    ...(memory.length === 0 ? {} : { memory }),
    diagnostics: [...reportedFindings(view), ...scope.resources.flatMap((one) => one.notices?.(view) ?? [])].filter(
      (one) => scope.isShown?.(one, view) ?? true,
    ),
  };
}

type Ready = Sifted['ready'][number];

/** Drops stops that no restart would follow, since nothing restarts an unreached or waiting Mac. */
function withoutVainStops({ ready, held }: Sifted, { goal, targets, desired }: View): Sifted {
  const going = ready.filter(({ kind }) => kind === 'boot-session').map(({ property }) => property.node);
  const membersOf = ({ property }: Ready): readonly NodeName[] => {
    const placement = desired.placements.find(({ name }) => name === property.about.placement);
    return [...nodesOf(property), ...(placement?.nodes ?? [])];
  };
  const isVain = (one: Ready): boolean =>
    one.kind === 'placement' && !membersOf(one).some((node) => going.includes(node));
  const heldFor = (one: Ready): Held => {
    const waiting = restartedNodes(goal).filter((node) => membersOf(one).includes(node));
    const reasons = waiting.map((node) => ({
      text: `${node} cannot be restarted now`,
      isUnknown: !targets.some((target) => target.desired.name === node),
    }));
    return { ...one, reasons };
  };
  return { ready: ready.filter((one) => !isVain(one)), held: [...held, ...ready.filter(isVain).map(heldFor)] };
}

/** The observed state of one node. If the next observation differs, the plan is stale. */
function observedNode({ desired: { name }, facts }: ObservedTarget, properties: readonly Property[]): ObservedNode {
  const seen: [string, Json][] = properties
    .filter(({ node }) => node === name)
    .map(({ address, observed }) => [
      address,
      observed.kind === 'known' ? { value: observed.value } : { unknown: observed.reason },
    ]);
  return { bootSession: readValue(facts, bootSessionFact)?.uuid ?? null, hash: digestOf(Object.fromEntries(seen)) };
}

/** One manual step per blocker that a person at the rack can clear, for preview, journal and runs. */
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
      // The run does not wait for manual steps: the next observation shows whether they were done.
      deadlineMs: 0,
    };
  });
}

/** A goal other than the whole file lists its own blockers; missing sudo and holds only if changes wait for them. */
const isListed = (goal: Goal, { blocks, resource }: Blocker): boolean =>
  blocks.length > 0 ||
  resource === 'boot-session' ||
  (goal.kind === 'converge' && resource !== 'sudo' && resource !== 'hold');

/** A ring of bridged Macs is listed first, because it floods the office network. */
const isUrgent = ({ code }: Blocker): boolean => hasTrait(entryOf(code), 'urgent');

/** The address of a property that the next apply changes automatically; undefined for other blockers. */
const addressToBring = ({ property, isBroughtByApply }: Blocker): string | undefined =>
  isBroughtByApply === true ? property?.address : undefined;

/** Merges all blockers that one apply fixes on a node into one that names each property. */
function gathered(blockers: readonly Blocker[]): readonly Blocker[] {
  const [first] = blockers;
  if (first === undefined || blockers.length === 1) return blockers;
  const addresses = blockers.flatMap((one) => addressToBring(one) ?? []);
  const peers = first.peers.filter((peer) => blockers.every((one) => one.peers.includes(peer)));
  return [
    {
      ...first,
      peers,
      action: convergeFirst(addresses),
      blocks: [...new Set(blockers.flatMap(({ blocks }) => blocks))].toSorted(compareText),
    },
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

/** The blockers in the order to clear them, each with the properties that wait for it. */
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
        Number(isUrgent(b)) - Number(isUrgent(a)) ||
        byResource(a, b) ||
        compareText(a.code, b.code) ||
        compareText(plainText(a.action), plainText(b.action)),
    );
  return gatheredByNode(listed);
}

/** Properties with unknown values, whether or not other properties wait for them. */
function openWaiting(goal: Goal, assessed: readonly Assessed[]): readonly Waiting[] {
  const isOpen = ({ resource }: UnobservedDependency): boolean =>
    goal.kind === 'converge' ? resource !== 'sudo' : goal.kind === 'prune' && resource === 'model';
  return assessed
    .flatMap(({ unobserved }) => unobserved)
    .filter(isOpen)
    .map(({ node, resource, text }) => ({
      resource,
      about: { kind: resource },
      node,
      for: [{ text: `${text} is unknown`, isUnknown: true }],
      isUnknown: true,
    }));
}

/** Properties that cannot reach their desired state now, with the reasons. */
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
 * Partitions changes into possible and waiting ones. A placement that stops or leaves its fallback makes room for
 * others only if nothing blocks its move, so each round plans again with the placements that stay. The loop ends
 * because a round can only add staying placements and remove ranks to stop.
 */
function judge(
  scope: Scope,
  view: View,
): { readonly view: View; readonly assessed: readonly Assessed[]; readonly sifted: Sifted } {
  // In the order in which apply changes a node.
  const assessed = scope.resources.map((resource) => assess(resource, scope, view));
  const sifted = sift(assessed, scope, view);
  const changing = sifted.ready.map(({ property }) => property);
  const staying = stayingAfter(view, changing);
  const { placements, stoppedRanks } = view.staying;
  const isSettled =
    staying.placements.length === placements.length && staying.stoppedRanks.length === stoppedRanks.length;
  return isSettled ? { view, assessed, sifted } : judge(scope, viewWith(view, { staying }));
}

/** A property that cannot change now, with everything that it waits for. */
interface Held {
  readonly kind: ResourceKind;
  readonly property: Property;
  readonly reasons: readonly Reason[];
}

interface Sifted {
  readonly ready: readonly { readonly kind: ResourceKind; readonly property: Property }[];
  readonly held: readonly Held[];
}

/** Why certain properties must wait. */
interface Bar extends Earlier {
  readonly kind: ResourceKind;
  /** True if it protects a placement that answers, which no restart may stop. */
  readonly isAtStake?: boolean;
  /** True if properties of its own kind also wait for it. */
  readonly isOwn: boolean;
  readonly reason: Reason;
}

function unknownText({ address, node, observed, why, knownAfter }: Property): string {
  if (knownAfter !== undefined) return `${address} on ${node} is known after ${knownAfter}`;
  return `${address} on ${node} is unknown${observed.kind === 'unknown' ? ` (${why ?? reasonWords[observed.reason]})` : ''}`;
}

/** The reason in a property's own line, which names its address and node. */
const ownUnknownText = (property: Property): string =>
  property.knownAfter === undefined ? unknownText(property) : `known after ${property.knownAfter}`;

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

/** If a plan first rolls back a node's network change, all other changes on the node wait. */
function settledFirst(kind: ResourceKind, property: Property): readonly Bar[] {
  const text = `the unconfirmed network change on ${property.node}`;
  return kind === 'transaction' ? [propertyBar(kind, property, { text, isUnknown: false })] : [];
}

function barsOf(
  { resource: { kind }, properties, blockers, unobserved }: Assessed,
  isBarring: boolean,
): readonly Bar[] {
  const unseen = isBarring ? properties.filter((property) => judgeProperty(property) === 'unknown') : [];
  return [
    ...blockers.map(blockerBar),
    ...unobserved.map((one): Bar => {
      const reason = { text: `${one.text} on ${one.node} is unknown`, isUnknown: true };
      return { kind, nodes: nodesOf(one), isAtStake: true, isOwn: true, reason };
    }),
    ...unseen.map((property) => propertyBar(kind, property, { text: unknownText(property), isUnknown: true })),
  ];
}

/** The reasons why a property waits for peers that are unobserved or not among the targets. */
function absentReasons(property: Property, { asked, targets }: View): readonly Reason[] {
  const nodes = nodesOf(property);
  const away = nodes.filter((node) => !asked.includes(node));
  const unseen = nodes.filter((node) => asked.includes(node) && !targets.some(({ desired }) => desired.name === node));
  const isOrAre = away.length === 1 ? 'is' : 'are';
  return [
    ...(away.length === 0
      ? []
      : [{ text: `${everyNodeText(away)} ${isOrAre} not among the targets`, isUnknown: false }]),
    ...(unseen.length === 0 ? [] : [{ text: `${everyNodeText(unseen)} could not be observed`, isUnknown: true }]),
  ];
}

/** Removes duplicate reasons. Two blockers with the same code, such as runtime and model, count as two reasons. */
function eachOnce(reasons: readonly Reason[]): readonly Reason[] {
  const isFirst = ({ text, blocker }: Reason, index: number): boolean =>
    reasons.findIndex((other) => other.text === text && other.blocker === blocker) === index;
  return reasons.filter(isFirst);
}

/** One Mac with a wrong identity makes every address doubtful: a run that is not limited to others changes nothing. */
const stopsTheRun = ({ kind, reason: { blocker } }: Bar): boolean => kind === 'identity' && blocker !== undefined;

/** True if an obstacle blocks a property of this kind on the same node. */
function isInTheWay(bar: Bar, { kind }: Resource, property: Property, before: readonly ResourceKind[]): boolean {
  if (bar.kind === kind) return bar.isOwn && (bar.property === undefined || bar.property.address === property.address);
  // A hold protects the node from every change.
  if (bar.kind === 'hold') return true;
  // After a network rollback, the node's observation is stale.
  if (bar.kind === 'transaction' && !bar.reason.isUnknown) return kind !== 'identity' && kind !== 'sudo';
  // A hung placement can be unobservable; a restart fixes it.
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
  // An unknown property is listed with its own reason, not with others' unknowns.
  return judgeProperty(property) === 'unknown'
    ? eachOnce([{ text: ownUnknownText(property), isUnknown: true }, ...all.filter(({ isUnknown }) => !isUnknown)])
    : eachOnce(all);
}

/**
 * Partitions properties into possible and waiting ones. A property waits for blockers and unknown facts of its own kind
 * or an earlier one, on its node or a peer, and for other waiting properties.
 */
function sift(assessed: readonly Assessed[], scope: Scope, view: View): Sifted {
  const bars: Bar[] = [];
  const ready: Sifted['ready'][number][] = [];
  const held: Held[] = [];
  for (const one of assessed) {
    const { resource, properties } = one;
    const { kind } = resource;
    bars.push(...barsOf(one, scope.barring.includes(kind)));
    const candidates = properties.filter((own) => judgeProperty(own) !== 'met' && scope.mayChange(kind, own));
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

/** One resource with its properties and obstacles in the fleet. */
interface Assessed {
  readonly resource: Resource;
  /** All properties, regardless of the goal. */
  readonly properties: readonly Property[];
  /** Empty if the goal ignores this kind. */
  readonly blockers: readonly Blocker[];
  readonly unobserved: readonly UnobservedDependency[];
}

/** The action for properties that a goal needs but does not change. */
const convergeFirst = (addresses: readonly string[]): Prose =>
  prose`Make ${addresses.join(', ')} match the file first: ${meshwright('apply')}`;

/** Turns properties that differ but that the goal does not change into blockers. */
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
  if (!scope.barring.includes(resource.kind)) return { resource, properties, blockers: [], unobserved: [] };
  const isAsked = (one: Blocker): boolean => nodesOf(one).some((node) => view.asked.includes(node));
  const others = properties.filter((property) => !scope.mayChange(resource.kind, property));
  return {
    resource,
    properties,
    blockers: [...(resource.blockers?.(view) ?? []).filter(isAsked), ...unmetBlockers(resource, others)],
    unobserved: resource.unobserved?.(view) ?? [],
  };
}
