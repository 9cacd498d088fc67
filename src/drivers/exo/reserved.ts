import type { Prose } from '../../model/text/prose.ts';
import type { ReservedWord, ReservedWords } from '../contract/reserved-words.ts';

const ownPorts = 'Each start of a placement has ports of its own; `endpoint.port` is that of its API.';
const ownMesh = 'Each placement is a mesh of its own, under its name.';
const ownRunners = 'exo makes a group of its runners at every start, from what it sees of the cables.';
const ownFiles = 'exo reads the files of the model that apply brought, and fetches none.';

const reserve = (use: Prose, ...words: readonly string[]): readonly ReservedWord[] =>
  words.map((word) => ({ word, use }));

/** What the driver sets of exo by itself. */
export const reserved: ReservedWords = {
  reading: 'abbreviated',
  env: [
    ...reserve('exo has a home of its own in each placement.', 'HOME', 'EXO_HOME'),
    ...reserve('exo calls tools of macOS by name.', 'PATH'),
    ...reserve(ownFiles, 'EXO_OFFLINE', 'EXO_MODELS_READ_ONLY_DIRS', 'EXO_MODELS_DIRS', 'EXO_DEFAULT_MODELS_DIR'),
    ...reserve(ownMesh, 'EXO_LIBP2P_NAMESPACE', 'EXO_ZENOH_NAMESPACE', 'EXO_BOOTSTRAP_PEERS'),
    ...reserve('Use `parallel`.', 'EXO_MAX_CONCURRENT_REQUESTS'),
    // Runners get these from exo, whatever its own environment has. @see exo: worker/runner/bootstrap.py, utils_mlx.py
    ...reserve('exo sets it for its runners: use EXO_FAST_SYNCH ("true" or "false").', 'MLX_METAL_FAST_SYNCH'),
    ...reserve(ownRunners, 'MLX_RANK', 'MLX_HOSTFILE', 'MLX_IBV_DEVICES', 'MLX_JACCL_COORDINATOR'),
  ],
  args: [
    ...reserve('The first of `nodes` is master.', '--force-master', '-m'),
    ...reserve(ownPorts, '--api-port', '--zenoh-port', '--discovery-port', '--libp2p-port'),
    ...reserve(ownMesh, '--namespace', '--bootstrap-peers'),
    ...reserve(ownFiles, '--offline', '--no-downloads'),
    ...reserve('Every rank has an API and a worker: its peers look for them.', '--no-api', '--no-worker'),
    ...reserve('launchd starts exo.', '--legacy-daemon'),
    // Quiet is any verbosity but the usual one, which has the log begin at DEBUG. @see exo: shared/logging.py, utils_mlx.py
    ...reserve('Its log says what a start does, and no prompt.', '-v', '--verbose', '-q', '--quiet').map((one) => ({
      ...one,
      because: 'writes every prompt into the log',
    })),
  ],
};
