import { everyNode, withFallbacks } from '../../desired/layouts.ts';
import type { DesiredFleet, DesiredPlacement } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import type { HoldWish } from '../../rack/hold/resource.ts';
import { type DoorLook, type DrainWish, doorNodes } from '../../rack/placement/endpoint/drain.ts';
import { whereTheyRanLast, whereTheyRun } from '../../rack/placement/state/layouts.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import type { UninstallWish } from '../../rack/uninstall/uninstall-properties.ts';
import type { Plan } from '../plan/plan.ts';

/** What a plan is to bring about. */
export type Goal =
  /** What the file wants; only resources of these kinds where `only` is there. */
  | { readonly kind: 'converge'; readonly only?: readonly ResourceKind[] }
  /** These placements stopped where they run, whatever the file says of their state; with `near` only those on such a node. */
  | {
      readonly kind: 'stop';
      readonly placements: readonly string[];
      readonly near?: readonly NodeName[];
      /** Those that are started again afterwards: what answers is not stopped where that start would be refused. */
      readonly back?: readonly string[];
    }
  /** The same started. */
  | {
      readonly kind: 'start';
      readonly placements: readonly string[];
      /** On their fallback, or on their own nodes unless they run on it; absent for where they ran last. */
      readonly layout?: 'fallback' | 'own';
      readonly near?: readonly NodeName[];
    }
  /** Nobody let in to these placements any more, and nobody inside; what runs goes on. */
  | ({ readonly kind: 'drain' } & DrainWish)
  /** These Macs restarted, or switched off; `back` as for a stop. */
  | { readonly kind: 'reboot' | 'shutdown'; readonly nodes: readonly NodeName[]; readonly back?: readonly string[] }
  /** These Macs left alone from now on, or no longer. */
  | ({ readonly kind: 'hold' } & HoldWish)
  /** Nothing of us left on these Macs; the fleet is that of `fleetWithout`, and `placements` those that it stops. */
  | ({ readonly kind: 'uninstall'; readonly placements: readonly string[] } & UninstallWish);

/**
 * Nodes for which a plan has failed. A placement has a door on each node of both its layouts, and where an earlier file left
 * one. Where one of these doors was not drained or not seen, the goal has failed for every node of the placement, since the
 * next batch may hold only those.
 */
export function withUndrained(
  failed: readonly NodeName[],
  goal: Goal,
  { observed, ...look }: DoorLook & Pick<Plan, 'observed'>,
): readonly NodeName[] {
  if (goal.kind !== 'drain') return failed;
  const isUndrained = (node: NodeName): boolean => failed.includes(node) || !Object.hasOwn(observed, node);
  const undrained = look.fleet.placements.filter(
    ({ name }) => goal.placements.includes(name) && doorNodes(look, [name]).some(isUndrained),
  );
  return [...new Set([...failed, ...undrained.flatMap(everyNode)])];
}

/** Those of the targets that a goal is about: to drain, every node may have a door, and only those that do are touched. */
export function targetsForGoal(goal: Goal, targets: readonly NodeName[], look: DoorLook): readonly NodeName[] {
  if (goal.kind !== 'drain') return targets;
  const meant = doorNodes(look, goal.placements);
  return targets.filter((node) => meant.includes(node));
}

/**
 * The fleet in which nothing is placed on these nodes, no link ends there and no keeper is wanted. Placements are to be
 * given where they run. One that has other members as well is stopped on them. One that only its other layout has there
 * is left out: what the nodes keep of it is left over, and it runs on.
 *
 * @returns the fleet, with the names of placements that reach over to other nodes: they are stopped there
 */
export function fleetWithout(
  fleet: DesiredFleet,
  nodes: readonly NodeName[],
): { readonly fleet: DesiredFleet; readonly placements: readonly string[] } {
  const isGone = (node: NodeName): boolean => nodes.includes(node);
  const placements = fleet.placements.flatMap((one): readonly DesiredPlacement[] => {
    if (!everyNode(one).some(isGone)) return [one];
    const others = one.nodes.filter((node) => !isGone(node));
    if (others.length === 0 || others.length === one.nodes.length) return [];
    const { fallback: _, home: __, ...rest } = one;
    return [{ ...rest, nodes: others, state: 'stopped' }];
  });
  const reaching = fleet.placements.filter(({ nodes: own }) => own.some(isGone) && !own.every(isGone));
  const links = fleet.thunderbolt.links.filter(({ ends }) => !ends.some(({ node }) => isGone(node)));
  const { keeper: _, ...system } = fleet.system;
  return {
    fleet: { ...fleet, system, placements, thunderbolt: { ...fleet.thunderbolt, links } },
    placements: reaching.map(({ name }) => name),
  };
}

/**
 * The fleet with its placements on the nodes that a goal means: what is stopped is stopped where it runs, and what is
 * started goes where it is wanted. What is to serve by the file serves on its own nodes, so that a plan for the whole
 * file moves it back.
 */
export function fleetForGoal(goal: Goal, desired: DesiredFleet, { nodes }: FleetObservation): DesiredFleet {
  switch (goal.kind) {
    case 'hold':
    case 'uninstall':
      return desired;
    case 'converge': {
      const last = whereTheyRanLast(desired, nodes).placements;
      const placements = desired.placements.map((one, at) => (one.state === 'stopped' ? (last[at] ?? one) : one));
      return { ...desired, placements };
    }
    case 'stop':
    case 'drain':
    case 'reboot':
    case 'shutdown':
      return whereTheyRanLast(desired, nodes);
    case 'start': {
      const isNamed = ({ name }: { readonly name: string }): boolean => goal.placements.includes(name);
      const current = whereTheyRun(desired, nodes);
      if (goal.layout === 'fallback') return withFallbacks(current, isNamed);
      if (goal.layout === 'own') return current;
      const last = whereTheyRanLast(desired, nodes).placements;
      return { ...current, placements: current.placements.map((one, at) => (isNamed(one) ? (last[at] ?? one) : one)) };
    }
  }
}
