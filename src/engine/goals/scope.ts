import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet, DesiredPlacement } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import { sudo } from '../../rack/access/resource.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import type { GoalKind, GoalOf } from '../../rack/goal.ts';
import { identity } from '../../rack/identity/resource.ts';
import type { DrainView } from '../../rack/placement/endpoint/drain.ts';
import type { Property, Resource, View } from '../../rack/resource.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import { areaOf } from '../diagnose/rules.ts';
import { resources } from '../resources.ts';

/** The part of the file and the resources that a goal uses. */
export interface Scope {
  /** The desired state in the file, with the goal's overrides. */
  readonly desired: DesiredFleet;
  /** The resources of apply, and those that only this goal changes. */
  readonly resources: readonly Resource[];
  /** Kinds whose blockers and unknown facts block the goal. */
  readonly barring: readonly ResourceKind[];
  /** True if the goal may change a property of this kind. */
  readonly mayChange: (kind: ResourceKind, property: Property) => boolean;
  /** True if a finding is shown with the plan; by default all are shown. */
  readonly isShown?: (finding: Diagnostic, view: View) => boolean;
}

/** How goals of one kind are planned. */
export interface GoalEntry<Kind extends GoalKind> {
  readonly scope: (goal: GoalOf<Kind>, desired: DesiredFleet) => Scope;
  /** The fleet with every placement on the nodes that the goal uses; by default, those in the file. */
  readonly fleet?: (desired: DesiredFleet, nodes: FleetObservation['nodes'], goal: GoalOf<Kind>) => DesiredFleet;
  /** The targets that the goal affects; by default all. */
  readonly targets?: (goal: GoalOf<Kind>, targets: readonly NodeName[], view: DrainView) => readonly NodeName[];
}

/** The resources that block every change of a node. */
export const preconditions = resources.filter(({ isPrecondition }) => isPrecondition);

export const always: readonly ResourceKind[] = preconditions.map(({ kind }) => kind);

export const allKinds: readonly ResourceKind[] = resources.map(({ kind }) => kind);

interface OwnScope {
  /** The resources of apply that the goal needs, which run first. */
  readonly before?: readonly Resource[];
  /** By default the kind of its resource. */
  readonly changes?: readonly ResourceKind[];
  /** True if blockers and unknown facts of its own resource also block it. */
  readonly isBarring?: true;
}

/** A goal that only its own resource reaches. Its plan shows only why nodes were not reached. */
export const ownGoal = <Kind extends GoalKind>(
  resourceOf: (goal: GoalOf<Kind>) => Resource,
  { before = [identity, sudo], changes, isBarring }: OwnScope = {},
): GoalEntry<Kind> => ({
  scope: (goal, desired) => {
    const own = resourceOf(goal);
    return {
      desired,
      resources: [...before, own],
      barring: [...before, ...(isBarring ? [own] : [])].map(({ kind }) => kind),
      mayChange: (kind) => (changes ?? [own.kind]).includes(kind),
      isShown: (one) => areaOf(one) === 'ssh',
    };
  },
});

export function withState(
  desired: DesiredFleet,
  state: DesiredPlacement['state'],
  isIncluded: (placement: DesiredPlacement) => boolean,
): DesiredFleet {
  const stateOf = (one: DesiredPlacement): DesiredPlacement => ({
    ...one,
    state,
    ...(state === 'stopped' && one.state === 'serving' ? { lingersOn: one.nodes } : {}),
    ...(one.ownLayout === undefined ? {} : { ownLayout: { ...one.ownLayout, state } }),
  });
  return { ...desired, placements: desired.placements.map((one) => (isIncluded(one) ? stateOf(one) : one)) };
}

/** True if a property is the gateway state of one of these placements. */
export const isStateOf = ({ about: { part, placement = '' } }: Property, placements: readonly string[]): boolean =>
  part === 'endpoint' && placements.includes(placement);

/** The placements that the goal affects. One named through its fallback's nodes can run elsewhere. */
export const goalPlacements = (
  { placements: named, near }: GoalOf<'stop' | 'start'>,
  { placements }: DesiredFleet,
): readonly DesiredPlacement[] =>
  placements.filter(
    ({ name, nodes }) => named.includes(name) && (near === undefined || nodes.some((node) => near.includes(node))),
  );
