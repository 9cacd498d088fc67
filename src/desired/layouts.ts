import type { DesiredFleet, DesiredModel, DesiredNode, DesiredPlacement } from '../model/desired.ts';
import { neverHasRdma } from '../model/macs.ts';
import { leastExchangeBytes, totalBytes } from '../model/model-bytes.ts';
import type { NodeName } from '../model/node.ts';

/** The account that runs a node's ranks; undefined means the ssh user. */
export const ranksUser = ({ system }: DesiredFleet, { user }: DesiredNode): string | undefined =>
  system.accounts.ranks ?? user;

/** The account that runs a node's gateways; undefined means the ssh user. */
export const gatewayUser = ({ system }: DesiredFleet, { user }: DesiredNode): string | undefined =>
  system.accounts.gateway ?? user;

/** True if a node has a gateway because it leads a published placement's own nodes or fallback. */
const hasGateway = ({ placements }: DesiredFleet, node: NodeName): boolean =>
  placements
    .flatMap(layoutsOf)
    .some(({ publication, nodes: [leader] }) => publication !== undefined && leader === node);

/** The models that a node's placements load, on their own nodes or fallback, from a server or Hugging Face. */
export function downloadsOn({ placements, models }: DesiredFleet, node: NodeName): readonly string[] {
  const loaded = placements.filter((one) => everyNode(one).includes(node)).flatMap(loadedModels);
  return models.flatMap(({ name, source: { kind } }) =>
    loaded.includes(name) && (kind === 'url' || kind === 'hub') ? name : [],
  );
}

/** True if Macs can get the model from each other. One that this computer sends has to be large enough. */
export const isExchanged = ({ source: { kind }, files }: DesiredModel): boolean =>
  kind === 'url' || kind === 'hub' || (kind === 'controller' && totalBytes(files) >= leastExchangeBytes);

/** True if a node's placements load a model that Macs can get from each other. */
function hasExchange({ placements, models }: DesiredFleet, node: NodeName): boolean {
  const loaded = placements.filter((one) => everyNode(one).includes(node)).flatMap(loadedModels);
  return models.some((one) => loaded.includes(one.name) && isExchanged(one));
}

/** The accounts that a node needs: one for ranks, one for a gateway and one for transfers of models, if it has them. */
export function accountsOn(fleet: DesiredFleet, node: NodeName): readonly string[] {
  const { ranks, gateway, transfers } = fleet.system.accounts;
  const needed = [
    ranks,
    hasGateway(fleet, node) ? gateway : undefined,
    hasExchange(fleet, node) ? transfers : undefined,
  ];
  return needed.flatMap((one) => one ?? []);
}

/**
 * Lists the nodes that must be observed to check the targets: the targets, their cable neighbors, and all nodes of
 * placements that run on a target or would run there on their fallback. The nodes are in fleet order.
 */
export function nodesToSee(fleet: DesiredFleet, targets: readonly NodeName[]): readonly DesiredNode[] {
  const groups = [
    ...fleet.thunderbolt.links.map(({ ends }) => ends.map(({ node }) => node)),
    ...fleet.placements.map(everyNode),
  ];
  const near = groups.filter((group) => group.some((node) => targets.includes(node))).flat();
  return fleet.nodes.filter(({ name }) => targets.includes(name) || near.includes(name));
}

/** True if the file declares this node as a Mac with Thunderbolt 4, which does not support RDMA. */
const isDeclaredWithoutRdma = ({ nodes }: DesiredFleet, name: NodeName): boolean =>
  neverHasRdma(nodes.find((node) => node.name === name)?.hardware.model);

/**
 * True if the file needs RDMA on this node: for a placement's own nodes or fallback, or because of `thunderbolt.rdma:
 * required`. That key does not apply to a Mac that is declared with Thunderbolt 4.
 */
export const needsRdma = (fleet: DesiredFleet, node: NodeName): boolean =>
  (fleet.thunderbolt.rdma === 'required' && !isDeclaredWithoutRdma(fleet, node)) ||
  fleet.placements.flatMap(layoutsOf).some(({ transport, nodes }) => transport === 'rdma' && nodes.includes(node));

/** True if a link must reach 80 Gb/s: one end needs RDMA, and neither end is declared with Thunderbolt 4. */
export const needsFastLink = (fleet: DesiredFleet, ends: readonly { readonly node: NodeName }[]): boolean =>
  ends.some(({ node }) => needsRdma(fleet, node)) && !ends.some(({ node }) => isDeclaredWithoutRdma(fleet, node));

/** The names of the models that a placement loads: its own, and its drafter if it has one. */
export const loadedModels = ({ model, drafter }: Pick<DesiredPlacement, 'model' | 'drafter'>): readonly string[] =>
  drafter === undefined ? [model] : [model, drafter];

/** The nodes of a placement and of its other layout. */
type Placed = Pick<DesiredPlacement, 'nodes' | 'fallback'> & { readonly ownLayout?: Pick<DesiredPlacement, 'nodes'> };

/**
 * Returns the placement on its fallback, or unchanged if it has none. A fallback divides layers equally and has no roles. On a single
 * node, it has neither sharding nor a transport between ranks.
 */
export function onFallback(placement: DesiredPlacement): DesiredPlacement {
  const { fallback, shares: _, roles: __, sharding, backend, ...rest } = placement;
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
    ownLayout: placement,
  };
}

/** The layouts of a placement: on its own nodes, then on its fallback if it has one. */
export function layoutsOf(placement: DesiredPlacement): readonly DesiredPlacement[] {
  const own = placement.ownLayout ?? placement;
  return own.fallback === undefined ? [own] : [own, onFallback(own)];
}

/** Returns the layout with exactly these nodes in any order, or the given placement if no layout has these nodes. */
export function layoutOn(placement: DesiredPlacement, nodes: readonly NodeName[]): DesiredPlacement {
  const isOn = (one: DesiredPlacement): boolean =>
    one.nodes.length === nodes.length && one.nodes.every((node) => nodes.includes(node));
  return layoutsOf(placement).find(isOn) ?? placement;
}

/** The distinct leaders of both layouts. Each leader has the gateway. */
export const leadersOf = (placement: DesiredPlacement): readonly NodeName[] => [
  ...new Set(layoutsOf(placement).flatMap(({ nodes }) => nodes.slice(0, 1))),
];

/** The distinct nodes of both layouts of a placement, beginning with the given layout's leader. */
export const everyNode = ({ nodes, fallback, ownLayout }: Placed): readonly NodeName[] => [
  ...new Set([...nodes, ...(fallback?.nodes ?? []), ...(ownLayout?.nodes ?? [])]),
];

/** Returns the fleet with the selected placements on their fallback, if they have one. */
export const withFallbacks = (
  fleet: DesiredFleet,
  isSelected: (placement: DesiredPlacement) => boolean,
): DesiredFleet => ({ ...fleet, placements: fleet.placements.map((one) => (isSelected(one) ? onFallback(one) : one)) });
