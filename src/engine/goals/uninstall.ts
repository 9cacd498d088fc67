import { everyNode } from '../../desired/layouts.ts';
import type { DesiredFleet, DesiredPlacement } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import type { GoalOf } from '../../rack/goal.ts';
import type { Resource } from '../../rack/resource.ts';
import { uninstall as removal } from '../../rack/uninstall/resource.ts';
import { areaOf } from '../diagnose/rules.ts';
import { resources } from '../resources.ts';
import { type GoalEntry, preconditions } from './scope.ts';

/** The resources of apply, only on the goal's nodes, in reverse setup order, and the removal of everything else. */
function removals(goal: GoalOf<'uninstall'>): readonly Resource[] {
  const changed = (one: Resource): Resource => ({ ...one, ...one.onUninstall?.(goal) });
  const gone = resources.filter(({ isPrecondition, onUninstall }) => isPrecondition === undefined && onUninstall);
  return [...preconditions.map(changed), ...gone.toReversed().map(changed), removal(goal)];
}

export const uninstall: GoalEntry<'uninstall'> = {
  scope: (goal, desired) => {
    const own = removals(goal);
    return {
      desired,
      resources: own,
      barring: own.map(({ kind }) => kind),
      mayChange: (kind) => kind !== 'identity' && kind !== 'sudo',
      isShown: (one) => ['ssh', 'uninstall'].includes(areaOf(one)),
    };
  },
};

/**
 * The fleet without placements, links and keepers on these nodes. Expects placements in their running layout. A
 * placement that also has other nodes is stopped there. A placement that uses these nodes only in its other layout
 * keeps running, because its files on them are leftovers.
 * @returns the fleet, and the names of placements that are also stopped on other nodes
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
    const { fallback: _, ownLayout: __, ...rest } = one;
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
