import type { DesiredPlacement } from '../../model/desired.ts';
import type { Link } from '../../model/node.ts';
import { below } from '../../node/paths/node-paths.ts';
import { type CabledFleet, linksBetween } from './addresses.ts';
import type { RankCommand, RankFile, RankMatrix, RankPlace } from './driver.ts';

/** The transport between a placement's ranks; `alone` for a single rank. */
export type Backend = 'jaccl' | 'jaccl-ring' | 'ring' | 'alone';

/** Upper limit of ranks in a full mesh. @see MESH_MAX_PEERS in mlx/distributed/jaccl of mlx 0.32 */
export const mostMeshRanks = 8;

/** Whether every rank has a value towards every other rank. */
export const isFullMesh = (matrix: RankMatrix): boolean =>
  matrix.every((row, rank) => row.every((value, other) => rank === other || value !== null));

/** Whether every rank has a value towards the previous and the next rank. */
export const isRing = (matrix: RankMatrix): boolean =>
  matrix.every((row, rank) => {
    const size = matrix.length;
    return row[(rank + 1) % size] !== null && row[(rank + size - 1) % size] !== null;
  });

/**
 * The backend that the file sets; otherwise it follows from transport and cables. Over RDMA, a full mesh uses jaccl and
 * fewer cables use a ring.
 *
 * @param between null where two ranks have no cable
 */
export function backendOf(
  { nodes, transport, backend }: Pick<DesiredPlacement, 'nodes' | 'transport' | 'backend'>,
  between: RankMatrix,
): Backend {
  if (nodes.length === 1) return 'alone';
  if (backend !== undefined) return backend;
  if (transport === 'tcp') return 'ring';
  return isFullMesh(between) ? 'jaccl' : 'jaccl-ring';
}

/** @see RING_MAX_CONNS in mlx/distributed/jaccl/lib/jaccl/ring_impl.h of mlx 0.32 */
const mostCablesPerHop = 4;

/**
 * The number of cables that a JACCL ring uses on each hop, which must be the same on all hops.
 *
 * @param counts number of cables of each hop
 * @see Config::is_valid_ring in mlx/distributed/jaccl/lib/jaccl/jaccl.cpp of mlx 0.32
 */
export const usedPerHop = (counts: readonly number[]): number => Math.min(mostCablesPerHop, ...counts);

/**
 * JACCL tells its peer the IPv4-mapped GID, wherever it is, but always sends from this index.
 *
 * @see Connection::queue_pair_rtr in mlx/distributed/jaccl/lib/jaccl/rdma.cpp of mlx 0.32.2; mlx pull request 3389
 */
export const jacclGid = 1;

type Cables = Pick<CabledFleet, 'links'>;

/** The cables of each hop of a ring, in rank order. Two ranks have only one hop. */
export const ringHops = (nodes: DesiredPlacement['nodes'], cables: Cables): readonly (readonly Link[])[] =>
  nodes
    .slice(0, nodes.length === 2 ? 1 : nodes.length)
    .map((node, rank) => linksBetween(cables, node, nodes[(rank + 1) % nodes.length] ?? node));

/** The cables that a group over RDMA uses. */
export function groupLinks(
  placement: Pick<DesiredPlacement, 'nodes' | 'transport' | 'backend'>,
  cables: Cables,
): readonly Link[] {
  const { nodes } = placement;
  const first = nodes.map((node) => nodes.map((other) => linksBetween(cables, node, other)[0]));
  const between = first.map((row) => row.map((link) => (link === undefined ? null : 'cable')));
  if (backendOf(placement, between) === 'jaccl')
    return first.flatMap((row, rank) => row.slice(rank + 1)).flatMap((link) => link ?? []);
  const hops = ringHops(nodes, cables);
  const used = usedPerHop(hops.map(({ length }) => length));
  return hops.flatMap((links) => links.slice(0, used));
}

/** The names that a group of several ranks needs from the last observation, beyond those of its cables. */
export const groupNeeds = ({ nodes, transport }: Pick<DesiredPlacement, 'nodes' | 'transport'>) => {
  if (transport === 'tcp' || nodes.length === 1) return [];
  return nodes.length === 2 ? (['devices'] as const) : (['devices', 'lan'] as const);
};

type GroupPlace = Pick<
  RankPlace,
  'placement' | 'rank' | 'port' | 'filesFolder' | 'between' | 'lan' | 'addresses' | 'devices' | 'cables'
>;

const devicesName = 'devices.json';
const hostsName = 'hosts.json';

/** The variables of {@link groupEnvironment}, which `env` must not change. */
export const groupVariables = ['MLX_RANK', 'MLX_IBV_DEVICES', 'MLX_JACCL_COORDINATOR', 'MLX_HOSTFILE'] as const;

/** @see the environment that mlx.launch makes, and Config::from_env in mlx/distributed/jaccl/lib/jaccl/jaccl.cpp */
export function groupEnvironment(place: GroupPlace, backend: Backend): RankCommand['env'] {
  const { rank, port, filesFolder } = place;
  if (backend === 'alone') return {};
  const own = { MLX_RANK: String(rank) };
  if (backend === 'ring') return { ...own, MLX_HOSTFILE: below(filesFolder, hostsName) };
  return {
    ...own,
    MLX_IBV_DEVICES: below(filesFolder, devicesName),
    MLX_JACCL_COORDINATOR: `${meetingAddress(place)}:${port}`,
    ...(backend === 'jaccl-ring' ? { MLX_JACCL_RING: '1' } : {}),
  };
}

/**
 * The address where the leader waits for all other ranks. With two ranks, it is on the cable. With more ranks, it is in
 * the office network, because a cable address is reachable only from the Mac at the cable's other end.
 *
 * @throws Error if that address was not observed; `needs` requires it beforehand
 */
function meetingAddress({ placement: { nodes }, between, lan }: GroupPlace): string {
  const address = nodes.length === 2 ? between[0]?.[1] : lan[0];
  if (address === undefined || address === null) throw new Error('the ranks have no address to meet at');
  return address;
}

/** The files that {@link groupEnvironment} names. */
export function groupFiles(
  { devices, cables, addresses, port }: GroupPlace,
  backend: Backend,
): readonly (RankFile & { readonly kind: 'file' })[] {
  const hosts = addresses.map((address) => [`${address}:${port}`]);
  switch (backend) {
    case 'alone':
      return [];
    case 'ring':
      return [jsonFile(hostsName, hosts)];
    case 'jaccl':
      return [jsonFile(devicesName, devices)];
    case 'jaccl-ring':
      return [jsonFile(devicesName, ringDevices(cables))];
  }
}

/** Device lists towards both neighbors only. Every hop uses as many devices as the hop with the fewest cables has. */
function ringDevices(cables: GroupPlace['cables']): readonly (readonly (readonly string[] | null)[])[] {
  const size = cables.length;
  const used = usedPerHop(cables.map((row, rank) => row[(rank + 1) % size]?.length ?? 0));
  return cables.map((row, rank) =>
    row.map((devices, other) => {
      const isNeighbour = other === (rank + 1) % size || other === (rank + size - 1) % size;
      return isNeighbour && other !== rank && devices.length > 0 ? devices.slice(0, used) : null;
    }),
  );
}

/** One line per rank. */
const jsonFile = (name: string, rows: readonly unknown[]): RankFile & { readonly kind: 'file' } => ({
  kind: 'file',
  name,
  content: [`[\n${rows.map((row) => `  ${JSON.stringify(row)}`).join(',\n')}\n]\n`],
});

/** All ranks of a group, for a hostfile. */
export interface GroupHosts {
  readonly backend: Exclude<Backend, 'alone'>;
  /** SSH host names, in rank order. */
  readonly hosts: readonly string[];
  /** The address of each rank; undefined if a rank has none. */
  readonly ips: readonly (string | undefined)[];
  /** RDMA devices per pair of ranks; absent for sockets. */
  readonly rdma?: readonly unknown[];
}

/** MLX's hostfile in object form. @see mlx/python/mlx/distributed_run.py for the hostfile and the environment */
export function hostfileText({ backend, hosts, ips, rdma }: GroupHosts): string {
  const all = hosts.map((ssh, rank) => ({
    ssh,
    ips: [ips[rank]].flatMap((address) => address ?? []),
    ...(rdma === undefined ? {} : { rdma: rdma[rank] }),
  }));
  return `${JSON.stringify({ backend, envs: [], hosts: all })}\n`;
}

export const hostfileName = 'hostfile.json';

/** The hostfile of a placement's ranks, the same on every node. */
export function hostfileOf(place: GroupPlace & Pick<RankPlace, 'hosts'>): RankFile {
  const { placement, hosts, addresses, devices, cables } = place;
  const backend = backendOf(placement, place.between);
  const isRdma = backend === 'jaccl' || backend === 'jaccl-ring';
  const ips = isRdma ? [meetingAddress(place), ...addresses.slice(1)] : addresses;
  const rdma = backend === 'jaccl' ? devices : ringDevices(cables);
  const text = hostfileText({
    backend: backend === 'alone' ? 'ring' : backend,
    hosts,
    ips,
    ...(isRdma ? { rdma } : {}),
  });
  return { kind: 'file', name: hostfileName, content: [text] };
}
