import { reasonWords } from '../../diagnostics/prose-text.ts';
import { given } from '../../model/given.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { stayingPlacements, stoppingRanks } from '../../rack/placement/state/staying.ts';
import {
  type Blocker,
  type Gap,
  judgeProperty,
  nodesOf,
  type Property,
  type Resource,
  type View,
} from '../../rack/resource.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import type { Scope } from '../goals/scope.ts';
import type { Reason } from './plan.ts';
import { type Earlier, isUsedBy, kindsBefore } from './step-order.ts';

/**
 * What can be changed now, and what waits. Whether a placement that is to be stopped or moved back from its fallback makes
 * room for others is known only when all that this waits for is: then everything is judged again beside those that stay.
 * Each round can only add to them, and only take from their ranks that are stopped each by itself.
 */
export function judge(
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
export interface Held {
  readonly kind: ResourceKind;
  readonly property: Property;
  readonly reasons: readonly Reason[];
}

/** Properties that differ, by what becomes of them. */
export interface Sifted {
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
  const text = `the network change on ${property.node} that nobody has confirmed`;
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
export interface Assessed {
  readonly resource: Resource;
  /** All of them, whatever the goal. */
  readonly properties: readonly Property[];
  /** None, where the goal leaves the kind alone. */
  readonly blockers: readonly Blocker[];
  readonly gaps: readonly Gap[];
}

/** What is to be done about properties that a goal needs and does not change itself. */
export const convergeFirst = (addresses: readonly string[]): Prose =>
  prose`Bring ${addresses.join(', ')} to what the file says first: ${meshwright('apply')}`;

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
