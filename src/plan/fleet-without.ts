import type { DesiredFleet } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';

/** A fleet that wants nothing of some nodes any more. */
export interface FleetWithout {
  readonly fleet: DesiredFleet;
  /** Placements that reach over to other nodes: they are stopped there. */
  readonly placements: readonly string[];
}

/**
 * The fleet in which nothing is placed on these nodes, no link ends there and no keeper is wanted. A placement that has
 * other members as well is stopped on them.
 */
export function fleetWithout(fleet: DesiredFleet, nodes: readonly NodeName[]): FleetWithout {
  const isGone = (node: NodeName): boolean => nodes.includes(node);
  const placements = fleet.placements.flatMap((one) => {
    const others = one.nodes.filter((node) => !isGone(node));
    if (others.length === one.nodes.length) return [one];
    return others.length === 0 ? [] : [{ ...one, nodes: others, state: 'stopped' as const }];
  });
  const reaching = fleet.placements.filter((one) => one.nodes.some(isGone) && !one.nodes.every(isGone));
  const links = fleet.thunderbolt.links.filter(({ ends }) => !ends.some(({ node }) => isGone(node)));
  const { keeper: _, ...system } = fleet.system;
  return {
    fleet: { ...fleet, system, placements, thunderbolt: { ...fleet.thunderbolt, links } },
    placements: reaching.map(({ name }) => name),
  };
}
