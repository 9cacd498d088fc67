import type { DesiredFleet, DesiredNode } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';
import { everyNode } from './fallback.ts';

/**
 * The nodes without which these cannot be judged: themselves, the far ends of their cables, and all members of what
 * runs on them or would on its fallback. In the order of the fleet.
 */
export function nodesToSee(fleet: DesiredFleet, targets: readonly NodeName[]): readonly DesiredNode[] {
  const groups = [
    ...fleet.thunderbolt.links.map(({ ends }) => ends.map(({ node }) => node)),
    ...fleet.placements.map(everyNode),
  ];
  const near = groups.filter((group) => group.some((node) => targets.includes(node))).flat();
  return fleet.nodes.filter(({ name }) => targets.includes(name) || near.includes(name));
}
