import type { HeldBytes, RuntimeSight } from '../contract/driver.ts';

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
