import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { DesiredFleet } from '../model/desired.ts';
import { orderedPairs } from '../model/lists.ts';
import { linkEndText, type NodeName } from '../model/node.ts';
import { addressTowards, endTowards, rankAddresses } from './contract/addresses.ts';
import type { SeenNames } from './contract/driver.ts';
import { hostfileText } from './contract/mlx-group.ts';

export interface LaunchRequest {
  readonly thunderbolt: DesiredFleet['thunderbolt'];
  /** In rank order. */
  readonly nodes: readonly NodeName[];
  /** Their SSH host names, in the same order. */
  readonly hosts: readonly string[];
  /** TCP port where the ranks may meet. */
  readonly port: number;
}

/** The settings by which the ranks of a user's own program find each other. */
export interface LaunchGroup {
  readonly kind: 'group';
  /** `jaccl`: every pair has a cable and an RDMA device. `ring`: TCP, over the cables if they form a ring. */
  readonly backend: 'jaccl' | 'ring' | 'alone';
  /** Files by name, the same on every node. */
  readonly files: Readonly<Record<string, string>>;
  /** A rank's environment; `file` returns the path of one of the files. */
  readonly environment: (rank: number, file: (name: string) => string) => Readonly<Record<string, string>>;
}

export const launchFiles = { hostfile: 'hostfile.json', mpi: 'hostfile', devices: 'devices.json', ring: 'ring.json' };

const jsonText = (value: unknown): string => `${JSON.stringify(value)}\n`;

/**
 * Files and environment for a run on these Macs, from their observed addresses and devices: MLX's hostfile in object
 * form, MPI's hostfile, and the backend's own files. Variables are set for only one backend, because a second one would
 * take precedence. The backend depends only on the cables in the file, so an unobserved name never changes it.
 *
 * @see mlx/python/mlx/distributed_run.py for the hostfile and the environment; Open MPI, "hostfile"
 */
export function launchGroup(
  request: LaunchRequest,
  seen: SeenNames,
): LaunchGroup | { readonly kind: 'unseen'; readonly diagnostic: Diagnostic } {
  const { thunderbolt, nodes, hosts, port } = request;
  const backend = launchBackend(request);
  const round = rankAddresses(thunderbolt, nodes);
  const [first, second] = nodes;
  const onCable = nodes.length === 2 && first && second ? addressTowards(thunderbolt, first, second) : undefined;
  const missing = [
    ...(backend === 'jaccl' ? unseenDevices(request, seen) : []),
    ...(backend === 'jaccl' && onCable === undefined ? unseenAddresses(nodes.slice(0, 1), seen) : []),
    ...(backend === 'ring' && round === undefined ? unseenAddresses(nodes, seen) : []),
  ];
  if (missing.length > 0) {
    const detail = `Not observed: ${missing.join(', ')}.`;
    return { kind: 'unseen', diagnostic: diagnose('launch/not-seen', { detail }) };
  }
  const deviceTo = (node: NodeName, other: NodeName): string | null => {
    const end = node === other ? undefined : endTowards(thunderbolt, node, other);
    return (end && seen.device(end)) ?? null;
  };
  const devices = nodes.map((node) => nodes.map((other) => deviceTo(node, other)));
  const addresses = round ?? nodes.map((node) => seen.lan(node));
  const meeting = onCable ?? (first === undefined ? undefined : seen.lan(first));
  const ips = addresses.map((address, rank) => (backend === 'jaccl' && rank === 0 ? meeting : address));
  return {
    kind: 'group',
    backend,
    files: {
      [launchFiles.hostfile]: hostfileText({
        hosts,
        ips,
        ...(backend === 'jaccl' ? { backend, rdma: devices } : { backend: 'ring' as const }),
      }),
      [launchFiles.mpi]: hosts.map((host) => `${host} slots=1\n`).join(''),
      ...(backend === 'jaccl' ? { [launchFiles.devices]: jsonText(devices) } : {}),
      ...(backend === 'ring' ? { [launchFiles.ring]: jsonText(addresses.map((one) => [`${one}:${port}`])) } : {}),
    },
    environment: (rank, file) => ({
      MESHWRIGHT_RANK: `${rank}`,
      MESHWRIGHT_SIZE: `${nodes.length}`,
      ...(backend === 'jaccl'
        ? {
            MLX_RANK: `${rank}`,
            MLX_IBV_DEVICES: file(launchFiles.devices),
            MLX_JACCL_COORDINATOR: `${meeting}:${port}`,
          }
        : {}),
      ...(backend === 'ring' ? { MLX_RANK: `${rank}`, MLX_HOSTFILE: file(launchFiles.ring) } : {}),
    }),
  };
}

/** The backend of these Macs, which depends only on the cables in the file. */
export function launchBackend({
  thunderbolt,
  nodes,
}: Pick<LaunchRequest, 'thunderbolt' | 'nodes'>): LaunchGroup['backend'] {
  if (nodes.length === 1) return 'alone';
  const isMesh = orderedPairs(nodes).every(([node, other]) => endTowards(thunderbolt, node, other) !== undefined);
  return isMesh ? 'jaccl' : 'ring';
}

const unseenDevices = ({ thunderbolt, nodes }: LaunchRequest, seen: SeenNames): readonly string[] =>
  orderedPairs(nodes)
    .flatMap(([node, other]) => endTowards(thunderbolt, node, other) ?? [])
    .filter((end) => seen.device(end) === undefined)
    .map((end) => `the RDMA device of ${linkEndText(end)}`);

const unseenAddresses = (nodes: readonly NodeName[], seen: SeenNames): readonly string[] =>
  nodes.filter((node) => seen.lan(node) === undefined).map((node) => `the office network address of ${node}`);
