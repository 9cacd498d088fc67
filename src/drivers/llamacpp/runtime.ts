import type { DriverKeys } from '../../desired/rules/rule.ts';
import type { DesiredRuntime } from '../../model/desired.ts';
import { isOneOf, isProgram } from '../contract/version-keys.ts';

/** llama.cpp: a server on the leader, and its RPC workers on the other nodes. */
export interface LlamaRuntime extends DesiredRuntime {
  readonly driver: 'llamacpp-rpc';
  /** The two programs, by their paths in the archive. */
  readonly server: string;
  readonly worker: string;
  /** Whether workers keep tensors over a restart, each verified before every start. */
  readonly cache: 'none' | 'verified';
}

export const keys: DriverKeys<LlamaRuntime> = {
  needs: [],
  takes: ['server', 'worker', 'cache'],
  ofPlacements: ['args', 'parallel', 'shares'],
  resolve: ({ server = `${llamaFolder}/llama-server`, worker = `${llamaFolder}/ggml-rpc-server`, cache = 'none' }) => ({
    driver: 'llamacpp-rpc',
    server,
    worker,
    cache,
  }),
  ofVersion: ({ server, worker, cache }) =>
    isProgram(server) && isProgram(worker) && isOneOf(cache, 'none', 'verified')
      ? { driver: 'llamacpp-rpc', server, worker, cache }
      : undefined,
};

/** The folder in which llama.cpp is looked for unless the file says where it is. */
export const llamaFolder = 'bin';

/** Whether llama.cpp may be in the one folder that its own releases have, whatever that is called. */
export const isReleaseLayout = (programs: readonly string[]): boolean =>
  programs[0] === `${llamaFolder}/llama-server` && programs.every((path) => path.startsWith(`${llamaFolder}/`));
