import type { DesiredPlacement } from '../../model/desired.ts';
import { below } from '../../node/paths/node-paths.ts';
import type { RankCommand, RankFile, RankMatrix, RankPlace } from '../contract/driver.ts';
import type { DriverMemory } from '../contract/memory.ts';
import type { MlxRuntime } from './runtime.ts';

/** What mlx keeps of earlier prompts, at most; it is started with this bound, since by itself it has none in bytes. */
const promptCacheBytes = 2 * 2 ** 30;

type Place = RankPlace<MlxRuntime>;

/** Below the folder of the runtime. */
export const mlxPython = 'venv/bin/python';

/** What the files of a rank are called. */
const devicesName = 'devices.json';
const hostsName = 'hosts.json';

/**
 * The command line of one rank, its whole environment, and the files that its group is made from. Nothing is taken over
 * from anywhere: one stray variable would make another group of it.
 */
export function configure(place: Place): RankCommand {
  const { placement, rank, port, endpointPort, runtimeFolder, filesFolder } = place;
  const backend = backendOf(placement, place.between);
  const program: RankFile = { kind: 'file', name: rankProgramName, content: [rankProgram] };
  return {
    argv: [
      [below(runtimeFolder, mlxPython)],
      ['-u'],
      [below(filesFolder, rankProgramName)],
      [backendWord(backend)],
      [String(placement.nodes.length)],
      ...serverWords(place),
      ...placement.args.map((word) => [word]),
    ],
    env: { ...ownEnvironment, ...groupEnvironment(place, backend), ...placement.env },
    files: [program, ...groupFiles(place, backend)],
    // Its server listens only after the whole group is there.
    joinedPort: rank === 0 ? endpointPort : 0,
    meetPort: rank === 0 && isJaccl(backend) ? port : 0,
    // The neighbours before and behind are the same Mac: a connection to each of them over every cable.
    ...(backend === 'jaccl-ring' && placement.nodes.length === 2 ? { takesOfDevice: 2 } : {}),
  };
}

const isJaccl = (backend: Backend): boolean => backend === 'jaccl' || backend === 'jaccl-ring';

function backendWord(backend: Backend): string {
  if (backend === 'alone') return aloneWord;
  return isJaccl(backend) ? 'jaccl' : 'ring';
}

/** For mlx_lm.server: the same on all ranks, though only the first one opens the port. */
function serverWords({ placement, model, modelFolder, endpointPort }: Place): RankCommand['argv'] {
  const { sharding, parallel, nodes } = placement;
  return [
    ['--model'],
    [modelFolder],
    ['--host'],
    ['127.0.0.1'],
    ['--port'],
    [String(endpointPort)],
    ['--decode-concurrency'],
    [String(parallel)],
    ['--prompt-concurrency'],
    [String(parallel)],
    ['--prompt-cache-bytes'],
    [String(promptCacheBytes)],
    ...(sharding === 'pipeline' && nodes.length > 1 ? [['--pipeline']] : []),
    ...(model.trustedCode === undefined ? [] : [['--trust-remote-code']]),
  ];
}

/** Nobody may be asked for a model, and nothing is written into the tree of the runtime. */
const ownEnvironment = {
  HF_HUB_OFFLINE: '1',
  TRANSFORMERS_OFFLINE: '1',
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONNOUSERSITE: '1',
} as const;

/** @see the environment that mlx.launch makes, and Config::from_env in mlx/distributed/jaccl/lib/jaccl/jaccl.cpp */
function groupEnvironment(place: Place, backend: Backend): RankCommand['env'] {
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
 * Where the leader waits for all others: on the cable where there is only one, else in the office network, since an
 * address on a cable is reached by the Mac at its other end alone.
 *
 * @throws Error when nobody has seen that address, which the driver asks for before
 */
function meetingAddress({ placement: { nodes }, between, lan }: Place): string {
  const address = nodes.length === 2 ? between[0]?.[1] : lan[0];
  if (address === undefined || address === null) throw new Error('the ranks have no address to meet at');
  return address;
}

function groupFiles({ devices, cables, addresses, port }: Place, backend: Backend): readonly RankFile[] {
  switch (backend) {
    case 'alone':
      return [];
    case 'ring':
      return [
        jsonFile(
          hostsName,
          addresses.map((address) => [`${address}:${port}`]),
        ),
      ];
    case 'jaccl':
      return [jsonFile(devicesName, devices)];
    case 'jaccl-ring':
      return [jsonFile(devicesName, ringDevices(cables))];
  }
}

/** Lists of devices towards both neighbours, and nothing else; as many everywhere as the poorest hop has. */
function ringDevices(cables: Place['cables']): readonly (readonly (readonly string[] | null)[])[] {
  const size = cables.length;
  const used = usedPerHop(cables.map((row, rank) => row[(rank + 1) % size]?.length ?? 0));
  return cables.map((row, rank) =>
    row.map((devices, other) => {
      const isNeighbour = other === (rank + 1) % size || other === (rank + size - 1) % size;
      return isNeighbour && other !== rank && devices.length > 0 ? devices.slice(0, used) : null;
    }),
  );
}

/** A row for each rank. */
const jsonFile = (name: string, rows: readonly unknown[]): RankFile => ({
  kind: 'file',
  name,
  content: [`[\n${rows.map((row) => `  ${JSON.stringify(row)}`).join(',\n')}\n]\n`],
});

/** What the file of the rank program is called beside the other files of a rank. */
export const rankProgramName = 'rank.py';

/** The word for a placement of one node, which has no group at all. */
const aloneWord = 'alone';

/**
 * The program of every rank, in Python: it joins the group, looks how many ranks there are before any model is loaded,
 * and becomes `mlx_lm.server` with the words that are left. It sets nothing: what a rank gets stands in its service.
 *
 * `rank.py BACKEND SIZE WORD...`, with `jaccl` or `ring` as the backend, or `alone`. Without `strict` a mistyped variable
 * would give every rank a group of its own, and each would load the whole model. The group stays the one that the
 * server asks for later, since mlx keeps the first one that was made.
 *
 * It says what Metal recommends to keep wired: nothing else on a Mac tells that. Where mlx does not say it the rank goes on.
 *
 * @see mlx/distributed/distributed.cpp of mlx 0.32: init() gives the group that is registered as "any"
 */
export const rankProgram = `"""One rank of a mesh: joins its group, counts it, then serves. Written by meshwright."""

import faulthandler
import os
import sys


def refuse(text):
    print("meshwright: " + text, file=sys.stderr, flush=True)
    sys.exit(1)


def join(backend, size):
    import mlx.core as mx

    group = mx.distributed.init(strict=True, backend=backend)
    if group.size() != size:
        refuse("group of %d ranks over %s instead of %d" % (group.size(), backend, size))
    if group.rank() != int(os.environ["MLX_RANK"]):
        refuse("this is rank %d of the group instead of %s" % (group.rank(), os.environ["MLX_RANK"]))
    print("meshwright: group of %d ranks over %s" % (size, backend), flush=True)


def tell_memory():
    import mlx.core as mx

    try:
        size = mx.device_info()["max_recommended_working_set_size"]
    except Exception:
        return
    print("meshwright: the GPU may use %d bytes" % size, flush=True)


def main():
    faulthandler.enable()
    backend, size = sys.argv[1], int(sys.argv[2])
    if backend == "${aloneWord}":
        print("meshwright: group of 1 ranks over none", flush=True)
    else:
        join(backend, size)
    tell_memory()
    from mlx_lm import server

    sys.argv = ["mlx_lm.server"] + sys.argv[3:]
    server.main()


main()
`;

/** How the ranks of a placement talk; `alone` where there is only one. */
export type Backend = 'jaccl' | 'jaccl-ring' | 'ring' | 'alone';

/** Whether every rank has a value towards every other one. */
export const isFullMesh = (matrix: RankMatrix): boolean =>
  matrix.every((row, rank) => row.every((value, other) => rank === other || value !== null));

/** Whether every rank has a value towards the rank before it and the one behind it. */
export const isRing = (matrix: RankMatrix): boolean =>
  matrix.every((row, rank) => {
    const size = matrix.length;
    return row[(rank + 1) % size] !== null && row[(rank + size - 1) % size] !== null;
  });

/**
 * How the ranks talk: as the file says, else by the transport and the cables. Over RDMA jaccl wants every pair cabled;
 * with less a ring.
 *
 * @param between anything that is null where two ranks have no cable
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
 * How many cables of each hop a ring of JACCL uses: it wants as many on all of them.
 *
 * @param counts of the cables of each hop
 * @see Config::is_valid_ring in mlx/distributed/jaccl/lib/jaccl/jaccl.cpp of mlx 0.32
 */
export const usedPerHop = (counts: readonly number[]): number => Math.min(mostCablesPerHop, ...counts);

export const memory: DriverMemory = {
  promptCacheBytes: () => promptCacheBytes,
  // mlx-lm loads a tensor whole before it keeps its part of it.
  loadingBytes: ({ sharding, shape }, ranks) => (sharding === 'tensor' && ranks > 1 ? 2 * shape.largestTensorBytes : 0),
};
