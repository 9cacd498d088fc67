import type { MlxRuntime } from '../../model/desired.ts';
import { below } from '../../node/paths/node-paths.ts';
import { countedChatRequest } from '../contract/chat-request.ts';
import type { RuntimeDriver } from '../contract/driver.ts';
import { check } from './check.ts';
import { signatures } from './classify.ts';
import { configure, mlxPython } from './configure.ts';
import { logPattern, observe } from './observe.ts';
import { phases } from './phases.ts';

/** mlx-lm, one rank per node: over RDMA by JACCL, in a full mesh or a ring, or over sockets. */
export const mlx: RuntimeDriver<MlxRuntime> = {
  id: 'mlx',
  keys: { needs: ['python', 'requirements'], takes: ['wheels'], ofPlacements: ['args', 'parallel', 'backend'] },
  configure,
  check,
  needs: ({ nodes, transport }) => {
    if (transport === 'tcp' || nodes.length === 1) return [];
    return nodes.length === 2 ? ['devices'] : ['devices', 'lan'];
  },
  // Any other name would make all ranks unload their model and look for that one.
  // `usage` is the length of the list of tokens that came out of the generator; `<think>` is in it and not in the text.
  // @see mlx_lm/server.py at d78bf58, lines 1441 (tokens.append) and 1503 (len(tokens))
  tokenRequest: () => countedChatRequest('default_model'),
  // Both ranks ended, and clients got an empty reply. @see mlx-lm issue 1737 (JACCL, mlx 0.32.0, mlx-lm 0.31.3)
  takesOneRequest: ({ nodes }) => nodes.length > 1,
  // The server takes them with the name of the model: another set unloads it, on every rank. @see ModelProvider of mlx_lm/server.py
  refusedFields: ['draft_model', 'adapters', 'num_draft_tokens'],
  phases,
  // Whether sums over several Macs are equal to the last bit in every start, nobody has confirmed.
  goldenCheck: () => 'printable',
  canRestartOne: () => false,
  isMadeOnNodes: true,
  // A rank whose peer has gone spins in its collective and ends by KILL alone. @see runtimes: restart procedure, step 2
  stopOrder: 'together',
  // The smallest program that uses the default device: the GPU, unless mlx was built without it.
  gpuQuestion: (_runtime, folder) => ({
    argv: [below(folder, mlxPython), '-c', 'import mlx.core as mx; print((mx.ones(1) + 1).item())'],
    shows: '^2',
  }),
  // Python takes it as an exception, so that the group is left in order. @see runtimes: restart procedure, step 2
  interruptMs: 10_000,
  logPattern,
  signatures,
  observe,
};
