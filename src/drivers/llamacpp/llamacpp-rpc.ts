import type { LlamaRuntime } from '../../model/desired.ts';
import { below } from '../../node/paths/node-paths.ts';
import { countedChatRequest } from '../contract/chat-request.ts';
import type { RuntimeDriver } from '../contract/driver.ts';
import { check } from './check.ts';
import { signatures } from './classify.ts';
import { configure } from './configure.ts';
import { logPattern, observe } from './observe.ts';
import { phases } from './phases.ts';

/** llama.cpp over its RPC backend: llama-server on the leader, an RPC worker on every other node. */
export const llamacppRpc: RuntimeDriver<LlamaRuntime> = {
  id: 'llamacpp-rpc',
  keys: { needs: [], takes: ['server', 'worker', 'cache'], ofPlacements: ['args', 'parallel', 'shares'] },
  configure,
  check,
  needs: () => [],
  // `usage` is `n_decoded`, which grows by one behind each sampled token.
  // @see llama.cpp at 00efb3e, tools/server/server-task.cpp: to_json_oaicompat_chat
  tokenRequest: ({ model }) => countedChatRequest(model),
  phases,
  // Weights travel over the cables when a server loads them.
  modelReaders: 'leader',
  // Measured: a mesh of two workers gives the very bytes of the single process.
  goldenCheck: () => 'equal',
  // @see llama.cpp, common/arg.cpp: `Available devices:`, then a line for each backend device; Metal's is MTL0
  // With Metal built in, its log names ggml_metal even where macOS gives it no device.
  gpuQuestion: ({ server }, folder) => ({
    argv: [below(folder, server), '--list-devices'],
    shows: '^ *(MTL|Metal)[0-9]*:',
    builtFor: 'ggml_metal',
  }),
  // A server never takes a worker back that was started anew.
  canRestartOne: () => false,
  stopOrder: 'leader-first',
  logPattern,
  signatures,
  observe,
};
