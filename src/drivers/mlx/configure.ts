import { mlxPromptCacheBytes } from '../../desired/fit/fit-need.ts';
import type { MlxRuntime } from '../../model/desired.ts';
import { below } from '../../node/paths/node-paths.ts';
import type { RankCommand, RankFile, RankPlace } from '../contract/driver.ts';
import { type Backend, backendOf, usedPerHop } from './backend.ts';
import { aloneWord, rankProgram, rankProgramName } from './rank-program.ts';

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
    [String(mlxPromptCacheBytes)],
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
