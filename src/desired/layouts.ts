import type { DesiredFleet, DesiredNode, DesiredPlacement } from '../model/desired.ts';
import { neverHasRdma } from '../model/macs.ts';
import type { NodeName } from '../model/node.ts';

/** The account that runs the ranks of a node; undefined is the ssh user. */
export const ranksUser = ({ system }: DesiredFleet, { user }: DesiredNode): string | undefined =>
  system.accounts.ranks ?? user;

/** The account that runs the gateways of a node; undefined is the ssh user. */
export const gatewayUser = ({ system }: DesiredFleet, { user }: DesiredNode): string | undefined =>
  system.accounts.gateway ?? user;

/** Whether a gateway stands on a node: the node leads a published placement, in its place or on its fallback. */
const hasGateway = ({ placements }: DesiredFleet, node: NodeName): boolean =>
  placements
    .flatMap(layoutsOf)
    .some(({ publication, nodes: [leader] }) => publication !== undefined && leader === node);

/** The accounts that a node needs: one for ranks on every node, one for the gateway only where a gateway stands. */
export const accountsOn = (fleet: DesiredFleet, node: NodeName): readonly string[] =>
  [fleet.system.accounts.ranks, hasGateway(fleet, node) ? fleet.system.accounts.gateway : undefined].flatMap(
    (one) => one ?? [],
  );

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

/** Whether the file says that this node is a Mac with Thunderbolt 4, which can never have RDMA. */
const isDeclaredWithoutRdma = ({ nodes }: DesiredFleet, name: NodeName): boolean =>
  neverHasRdma(nodes.find((node) => node.name === name)?.hardware.model);

/**
 * Whether the file needs RDMA on this node: for a placement that is on it, or would be with its fallback, or by
 * `thunderbolt.rdma: required`, which asks nothing of a Mac that is declared with Thunderbolt 4.
 */
export const needsRdma = (fleet: DesiredFleet, node: NodeName): boolean =>
  (fleet.thunderbolt.rdma === 'required' && !isDeclaredWithoutRdma(fleet, node)) ||
  fleet.placements.flatMap(layoutsOf).some(({ transport, nodes }) => transport === 'rdma' && nodes.includes(node));

/** Whether a link must reach 80 Gb/s: an end needs RDMA, and no end is a Mac that is declared with Thunderbolt 4. */
export const needsFastLink = (fleet: DesiredFleet, ends: readonly { readonly node: NodeName }[]): boolean =>
  ends.some(({ node }) => needsRdma(fleet, node)) && !ends.some(({ node }) => isDeclaredWithoutRdma(fleet, node));

/** The part of a placement that says where it runs and where else it may. */
type Placed = Pick<DesiredPlacement, 'nodes' | 'fallback'> & {
  readonly home?: Pick<DesiredPlacement, 'nodes'>;
};

/**
 * The same placement on the nodes of its fallback, or as it is where it has none. Layers are divided equally there; one
 * node alone splits nothing and talks to nobody.
 */
export function onFallback(placement: DesiredPlacement): DesiredPlacement {
  const { fallback, shares: _, sharding, backend, ...rest } = placement;
  if (fallback === undefined) return placement;
  const { nodes, contextTokens } = fallback;
  const isAlone = nodes.length === 1;
  return {
    ...rest,
    nodes,
    contextTokens,
    transport: isAlone ? 'tcp' : placement.transport,
    ...(isAlone || sharding === undefined ? {} : { sharding }),
    ...(isAlone || backend === undefined ? {} : { backend }),
    home: placement,
  };
}

/** How a placement may run: as the file has it, then on its fallback, where it has one. */
export function layoutsOf(placement: DesiredPlacement): readonly DesiredPlacement[] {
  const own = placement.home ?? placement;
  return own.fallback === undefined ? [own] : [own, onFallback(own)];
}

/** The layout of a placement that is on exactly these nodes, in any order; as the file has it where none is. */
export function layoutOn(placement: DesiredPlacement, nodes: readonly NodeName[]): DesiredPlacement {
  const isOn = (one: DesiredPlacement): boolean =>
    one.nodes.length === nodes.length && one.nodes.every((node) => nodes.includes(node));
  return layoutsOf(placement).find(isOn) ?? placement;
}

/** The nodes that lead it in either layout, each once: on each of them stands its doorman. */
export const leadersOf = (placement: DesiredPlacement): readonly NodeName[] => [
  ...new Set(layoutsOf(placement).flatMap(({ nodes }) => nodes.slice(0, 1))),
];

/** Every node that may carry a placement, in either layout; the leader of the one that is given comes first. */
export const everyNode = ({ nodes, fallback, home }: Placed): readonly NodeName[] => [
  ...new Set([...nodes, ...(fallback?.nodes ?? []), ...(home?.nodes ?? [])]),
];

/** The fleet with these placements on their fallback, those that have one. */
export const withFallbacks = (
  fleet: DesiredFleet,
  isMeant: (placement: DesiredPlacement) => boolean,
): DesiredFleet => ({
  ...fleet,
  placements: fleet.placements.map((one) => (isMeant(one) ? onFallback(one) : one)),
});
