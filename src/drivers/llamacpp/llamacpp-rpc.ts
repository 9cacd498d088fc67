import type { DesiredPlacement, LlamaRuntime } from '../../model/desired.ts';
import { below } from '../../node/paths/node-paths.ts';
import { countedChatRequest } from '../contract/chat-request.ts';
import type { HeldBytes, RuntimeDriver, RuntimeSight, StartPhase } from '../contract/driver.ts';
import { check } from './check.ts';
import { signatures } from './classify.ts';
import { configure } from './configure.ts';
import { memory } from './memory.ts';

/**
 * The workers first, until each of them listens: a server that finds one of them absent ends at once. That a worker
 * listens is looked up on its own node, since it serves one connection at a time, and a silent one would keep the
 * server out.
 */
const phases = ({ nodes }: Pick<DesiredPlacement, 'nodes'>): readonly StartPhase[] =>
  nodes.length === 1
    ? [{ ranks: 'leader', until: 'joined' }]
    : [
        { ranks: 'followers', until: 'joined' },
        { ranks: 'leader', until: 'joined' },
      ];

/**
 * Lines that tell of the mesh, and of its failures (`signatures`), for awk. A worker says that it took a connection, and then that it carries RDMA, or
 * nothing. The server says which devices it uses, what each of them holds, and when it falls back although RDMA was to
 * be had.
 *
 * @see ggml/src/ggml-rpc/{ggml-rpc,transport,transport-apple}.cpp and `llama_prepare_model_devices` in src/llama.cpp
 */
export const logPattern =
  '^Accepted client connection|RDMA(\\(Apple/UC\\))? activated: |staying on TCP|: using device RPC[0-9]|(model|KV|RS|compute) buffer size = |Failed to (connect to|create server socket)|Remote RPC server crashed|RPC handshake failed|version mismatch|update client|upgrade to protocol|bind HTTP server socket|Invalid host address|(send|recv) failed [(]bytes_|RDMA[(]Apple/UC[)] (RT[RS] failed|post_recv|poll_cq|recv wc|send wc|bad frame|frame len)|nable to allocate |ailed to allocate |OutOfMemory|unknown model architecture|invalid magic characters|file bounds|failed to read (magic|tensor info)|split file|invalid split count|failed to load |error loading model|^error: (invalid argument|unknown argument|while handling)|Library not loaded';

const connection = /^Accepted client connection/;
const activated = /RDMA(?:\(Apple\/UC\))? activated: /;
const fallBack = /staying on TCP/;
const device = /: using device (RPC\d+)/;

/**
 * Over what the last connection of a worker goes, and on the leader with how many workers it began and what each device
 * holds. A worker that took a connection and says nothing of RDMA speaks TCP: llama.cpp falls back without a word where
 * no RDMA device has the address of the connection.
 */
export function observe(said: readonly string[]): RuntimeSight {
  const last = said.findLastIndex((line) => connection.test(line));
  const devices = new Set(said.flatMap((line) => device.exec(line)?.[1] ?? []));
  const after = said.slice(last + 1);
  const held = heldBytes(said);
  return {
    ...(devices.size === 0 ? {} : { size: devices.size + 1 }),
    ...transportOf(after, last >= 0),
    ...(held.length === 0 ? {} : { held }),
  };
}

function transportOf(lines: readonly string[], isWorker: boolean): Pick<RuntimeSight, 'transport'> {
  if (lines.some((line) => fallBack.test(line))) return { transport: 'tcp' };
  if (!isWorker) return {};
  return { transport: lines.some((line) => activated.test(line)) ? 'rdma' : 'tcp' };
}

/**
 * One buffer: `load_tensors: RPC0[10.77.0.2:50152] model buffer size =    36.27 MiB`. What lies in a mapped file is named
 * for that.
 *
 * @see `load_tensors`, `llama_kv_cache`, `llama_memory_recurrent` and `sched_reserve` of llama.cpp
 */
const buffer = /: +(\S+?)(?:_Mapped)? (model|KV|RS|compute) buffer size = +(\d{1,9}\.\d{2}) MiB$/;
const worker = /^RPC\d+\[(.+):\d+\]$/;

const kinds = { model: 'weights', KV: 'cache', RS: 'cache', compute: 'compute' } as const;
type Kind = keyof typeof kinds;
const isKind = (word: string): word is Kind => Object.hasOwn(kinds, word);

/** What the devices of each worker hold, and those of the leader together, in the order of the log. */
function heldBytes(said: readonly string[]): readonly HeldBytes[] {
  const held = new Map<string, { weights: number; cache: number; compute: number }>();
  for (const line of said) {
    const [, name = '', kind = '', megabytes = ''] = buffer.exec(line) ?? [];
    if (!isKind(kind)) continue;
    const address = worker.exec(name)?.[1] ?? '';
    const sum = held.get(address) ?? { weights: 0, cache: 0, compute: 0 };
    sum[kinds[kind]] += Math.round(Number(megabytes) * 2 ** 20);
    held.set(address, sum);
  }
  return [...held].map(([address, sum]) => ({ ...(address === '' ? {} : { address }), ...sum }));
}

/** llama.cpp over its RPC backend: llama-server on the leader, an RPC worker on every other node. */
export const llamacppRpc: RuntimeDriver<LlamaRuntime> = {
  id: 'llamacpp-rpc',
  keys: { needs: [], takes: ['server', 'worker', 'cache'], ofPlacements: ['args', 'parallel', 'shares'] },
  configure,
  memory,
  check,
  programs: ({ server, worker: workerProgram }, users) => {
    const hasFollowers = users.some(({ nodes, fallback }) => Math.max(nodes.length, fallback?.nodes.length ?? 0) > 1);
    return [server, ...(hasFollowers ? [workerProgram] : [])];
  },
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
