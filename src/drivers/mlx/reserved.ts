import type { Prose } from '../../model/text/prose.ts';
import type { ReservedWord, ReservedWords } from '../contract/reserved-words.ts';

const ownGroup = 'Every start makes the group anew, from the cables and the nodes of the placement.';
const ownModel = 'The model is that of `model`, from the folder that apply brought.';
const ownPackages = 'Put it into the requirements of the runtime.';

const ownFiles = 'What apply has not brought is neither checked nor counted.';

const reserve = (use: Prose, ...words: readonly string[]): readonly ReservedWord[] =>
  words.map((word) => ({ word, use }));

/** What the driver sets of mlx and of mlx_lm.server by itself. */
export const reserved: ReservedWords = {
  reading: 'abbreviated',
  env: [
    ...reserve(ownGroup, 'MLX_RANK', 'MLX_IBV_DEVICES', 'MLX_JACCL_COORDINATOR', 'MLX_HOSTFILE'),
    ...reserve(ownGroup, 'JACCL_RANK', 'JACCL_IBV_DEVICES', 'JACCL_COORDINATOR'),
    ...reserve('Use `backend: jaccl-ring`.', 'MLX_JACCL_RING', 'JACCL_RING'),
    ...reserve(ownModel, 'HF_HUB_OFFLINE', 'TRANSFORMERS_OFFLINE', 'HF_HOME'),
    ...reserve(ownPackages, 'PYTHONPATH', 'PYTHONNOUSERSITE'),
    ...reserve('Use `python` of the runtime.', 'PYTHONHOME'),
    ...reserve('The tree of a runtime is sealed.', 'PYTHONDONTWRITEBYTECODE'),
  ],
  args: [
    ...reserve(ownModel, '--model'),
    ...reserve('The server listens on 127.0.0.1; `endpoint.port` is its port.', '--host', '--port'),
    ...reserve('Use `sharding: pipeline`.', '--pipeline'),
    ...reserve('Use `parallel`.', '--decode-concurrency', '--prompt-concurrency'),
    ...reserve('The memory of a placement is counted with it.', '--prompt-cache-bytes'),
    ...reserve(ownFiles, '--adapter-path', '--draft-model').map((one) => ({
      ...one,
      because: 'adds files to the model, which mlx-lm refuses over several nodes and no plan has counted on one',
    })),
    {
      word: '--log-level',
      because: 'writes every prompt and answer into the log with DEBUG',
      use: 'INFO is the usual one; WARNING, ERROR and CRITICAL are taken too.',
      unless: ['INFO', 'WARNING', 'ERROR', 'CRITICAL'],
    },
    ...reserve('Use `models.<name>.trustRemoteCode`.', '--trust-remote-code'),
  ],
};
