import type { DesiredModel, ExoRuntime } from '../../model/desired.ts';
import { digestOf, shortDigest } from '../../model/digest.ts';
import type { Text } from '../../model/step.ts';
import { below, programFolders, tool } from '../../node/paths/node-paths.ts';
import type { EnvValue, RankCommand, RankPlace } from '../contract/driver.ts';
import { quietProgram, quietProgramName } from './quiet-program.ts';

type Place = RankPlace<ExoRuntime>;

const homeName = 'home';

/**
 * The variable by which exo sets `MLX_METAL_FAST_SYNCH` of its runners: to 1, which may hang the GPU (issue 3142 of
 * mlx), unless it says false. @see exo: worker/runner/bootstrap.py
 */
export const fastSynch = 'EXO_FAST_SYNCH';

/** The folder in which exo looks for a model: `/` of its name is written `--`. @see exo: download/download_utils.py */
const modelFolderName = ({ repository = '' }: DesiredModel): string => repository.replaceAll('/', '--');

/**
 * The command line, the environment and the files of one exo. All ranks of one start make a mesh of their own: a
 * namespace and ports that nobody else has, so that exos of other placements, of other racks and of a start before do
 * not come into it. Its home is empty at each start: an event log of old keeps nodes from catching up (issue 1824).
 *
 * @see exo: main.py, shared/constants.py at fd707de3 (1.0.71) and b5375f8c (main)
 */
export function configure(place: Place): RankCommand {
  const { placement, runtime, model, rank, endpointPort, port, filesFolder } = place;
  const first: readonly Text[] = rank === 0 ? [['--force-master']] : [];
  const dialect = runtime.dialect === 'main' ? mainDialect(place) : releaseDialect(place);
  return {
    argv: [
      [tool.perl],
      [below(filesFolder, quietProgramName)],
      [below(filesFolder, homeName)],
      [below(place.runtimeFolder, runtime.program)],
      ...first,
      ['--api-port'],
      [String(endpointPort)],
      ...dialect.words.map((word): Text => [word]),
      ...placement.args.map((word): Text => [word]),
    ],
    // Without it loguru writes the values of variables below what went wrong: prompts are among them.
    env: { [fastSynch]: 'false', LOGURU_DIAGNOSE: 'false', ...placement.env, ...environment(place), ...dialect.env },
    files: [
      { kind: 'file', name: quietProgramName, content: [quietProgram] },
      { kind: 'folder', name: homeName, keeps: false },
      { kind: 'link', name: modelFolderName(model), to: place.modelFolder },
    ],
    // A follower's API tells nothing yet; the port at which it takes its peers is that of this start alone.
    joinedPort: rank === 0 ? endpointPort : port,
    meetPort: 0,
  };
}

/** exo calls networksetup, system_profiler, ifconfig, sysctl and rdma_ctl by name. */
const path: Text = programFolders.flatMap((folder, index) => (index === 0 ? [folder] : [':', folder]));

const environment = ({ placement, filesFolder }: Place): Readonly<Record<string, EnvValue>> => ({
  EXO_HOME: '.exo',
  EXO_MAX_CONCURRENT_REQUESTS: String(placement.parallel),
  EXO_MODELS_READ_ONLY_DIRS: filesFolder,
  EXO_OFFLINE: 'true',
  HOME: below(filesFolder, homeName),
  PATH: path,
});

/** Of all starts of all placements this one alone. */
const namespace = ({ placement, addresses, generation }: Place): string => {
  const rack = shortDigest(digestOf({ nodes: placement.nodes, addresses }));
  return `meshwright-${placement.name}-${rack}-${generation}`;
};

interface Dialect {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** zenoh over TCP, discovery over UDP; nothing names peers. */
const mainDialect = (place: Place): Dialect => ({
  words: ['--namespace', namespace(place), '--zenoh-port', `${place.port}`, '--discovery-port', `${place.port}`],
  env: {},
});

/** libp2p: peers are named as well, since mDNS finds nobody on some days (issues 952, 1788 and 1792). */
function releaseDialect(place: Place): Dialect {
  const { between, rank, port } = place;
  const peers = between.flatMap((row, peer) => (peer === rank ? [] : (row[rank] ?? [])));
  const named = peers.length === 0 ? [] : ['--bootstrap-peers', peers.map((ip) => `/ip4/${ip}/tcp/${port}`).join(',')];
  return { words: ['--libp2p-port', `${port}`, ...named], env: { EXO_LIBP2P_NAMESPACE: namespace(place) } };
}
