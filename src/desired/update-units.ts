import type { DesiredFleet, DesiredPlacement } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';
import { everyNode } from './layouts.ts';

/** Nodes that are updated together, and the placements that stop meanwhile. */
export interface UpdateUnit {
  readonly nodes: readonly NodeName[];
  readonly placements: readonly DesiredPlacement[];
}

/** Merges groups that share a node. The result is in the order of `nodes`; a node in no group is alone. */
function merged(
  nodes: readonly NodeName[],
  groups: readonly (readonly NodeName[])[],
): readonly (readonly NodeName[])[] {
  const ownerOf = new Map(nodes.map((node) => [node, node]));
  for (const group of groups) {
    const owners = group.map((node) => ownerOf.get(node));
    const [first] = owners;
    if (first === undefined) continue;
    for (const [node, owner] of ownerOf) if (owners.includes(owner)) ownerOf.set(node, first);
  }
  const owners = [...new Set(ownerOf.values())];
  return owners.map((owner) => nodes.filter((node) => ownerOf.get(node) === owner));
}

const cabled = ({ thunderbolt }: Pick<DesiredFleet, 'thunderbolt'>): readonly (readonly NodeName[])[] =>
  thunderbolt.links.map(({ ends }) => ends.map(({ node }) => node));

/** The groups of nodes that the file connects by cables, directly or through other nodes. */
export const cableGroups = (fleet: Pick<DesiredFleet, 'nodes' | 'thunderbolt'>): readonly (readonly NodeName[])[] =>
  merged(
    fleet.nodes.map(({ name }) => name),
    cabled(fleet),
  );

/**
 * The units of a macOS update. Cabled nodes are one unit, because RDMA needs equal versions, and so are the nodes of
 * placements that share a node. Units that serve come first, because only they can prove with a token that the version
 * works: the first unit is the canary.
 */
export function updateUnits(fleet: Pick<DesiredFleet, 'nodes' | 'thunderbolt' | 'placements'>): readonly UpdateUnit[] {
  const names = fleet.nodes.map(({ name }) => name);
  const units = merged(names, [...cabled(fleet), ...fleet.placements.map(everyNode)]).map((nodes) => ({
    nodes,
    placements: fleet.placements.filter((one) => everyNode(one).some((node) => nodes.includes(node))),
  }));
  const isProof = ({ placements }: UpdateUnit): boolean => placements.some(({ state }) => state === 'serving');
  return [...units.filter(isProof), ...units.filter((unit) => !isProof(unit))];
}
