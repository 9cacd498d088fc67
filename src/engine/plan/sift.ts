import { reasonWords } from '../../diagnostics/prose-text.ts';
import { judgeProperty } from '../../rack/change.ts';
import type { Blocker, Property, Resource, View } from '../../rack/resource.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import type { Assessed } from './assess.ts';
import type { Context } from './context.ts';
import { nodesOf } from './nodes-of.ts';
import type { Reason } from './plan.ts';
import { kindsBefore } from './resource-order.ts';
import { type Earlier, isUsedBy } from './uses.ts';

interface Candidate {
  readonly resource: Resource;
  readonly property: Property;
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
  return { kind, ...(property === undefined ? {} : { property }), nodes: nodesOf(blocker), isOwn: true, reason };
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
    if (!asked.includes(node)) {
      return [{ text: `${node} is not among the targets`, isUnknown: false }];
    }
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

/** Whether a bar stands in the way of a property of this resource, by what they are; where they are is judged apart. */
function isInTheWay(bar: Bar, { kind }: Resource, property: Property, before: readonly ResourceKind[]): boolean {
  if (bar.kind === kind) {
    return bar.isOwn && (bar.property === undefined || bar.property.address === property.address);
  }
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
  { resource, property }: Candidate,
  { scope, view }: Context,
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
export function sift(assessed: readonly Assessed[], context: Context): Sifted {
  const { scope } = context;
  const bars: Bar[] = [];
  const ready: Sifted['ready'][number][] = [];
  const held: Held[] = [];
  for (const one of assessed) {
    const { resource, properties } = one;
    const { kind } = resource;
    bars.push(...barsOf(one, scope.barring.includes(kind)));
    const candidates = properties.filter((own) => judgeProperty(own) !== 'met' && scope.isMeant(kind, own));
    for (const property of candidates) {
      const reasons = reasonsFor(bars, { resource, property }, context);
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
