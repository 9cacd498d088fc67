import type { LlamaRuntime } from '../../model/desired.ts';
import { chatRequest } from '../chat-request.ts';
import type { RuntimeDriver } from '../driver.ts';
import { check } from './check.ts';
import { signatures } from './classify.ts';
import { configure } from './configure.ts';
import { logPattern, observe } from './observe.ts';
import { phases } from './phases.ts';

/** llama.cpp over its RPC backend: llama-server on the leader, an RPC worker on every other node. */
export const llamacppRpc: RuntimeDriver<LlamaRuntime> = {
  id: 'llamacpp-rpc',
  configure,
  check,
  needs: () => [],
  tokenRequest: ({ model }) => chatRequest(model),
  phases,
  // Weights travel over the cables when a server loads them.
  modelReaders: 'leader',
  // Measured: a mesh of two workers gives the very bytes of the single process.
  goldenCheck: () => 'equal',
  // A server never takes a worker back that was started anew.
  canRestartOne: () => false,
  stopOrder: 'leader-first',
  logPattern,
  signatures,
  observe,
};
