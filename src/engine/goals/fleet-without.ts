import { everyNode } from '../../desired/layouts.ts';
import type { DesiredFleet, DesiredPlacement } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';

/** A fleet that wants nothing of some nodes any more. */
export interface FleetWithout {
  readonly fleet: DesiredFleet;
  /** Placements that reach over to other nodes: they are stopped there. */
  readonly placements: readonly string[];
}

/**
 * The fleet in which nothing is placed on these nodes, no link ends there and no keeper is wanted. Placements are to be
 * given where they run. One that has other members as well is stopped on them. One that only its other layout has there
 * is left out: what the nodes keep of it is left over, and it runs on.
 */
export function fleetWithout(fleet: DesiredFleet, nodes: readonly NodeName[]): FleetWithout {
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
