import type { DesiredPlacement, MlxRuntime } from '../../model/desired.ts';
import { below } from '../../node/paths/node-paths.ts';
import { countedChatRequest } from '../contract/chat-request.ts';
import type { RuntimeDriver, RuntimeSight, StartPhase } from '../contract/driver.ts';
import { check } from './check.ts';
import { signatures } from './classify.ts';
import { configure, memory, mlxPython } from './configure.ts';

/**
 * Over JACCL the leader first, until it listens where the ranks meet: the others try four times within fifteen seconds,
 * so they are started only then, all at once. That it listens is looked up on its own node, since a connection to that
 * port counts as a rank. Over sockets each rank listens for one neighbour and tries the other for half a minute, and
 * nobody is first.
 *
 * @see TCPAllGather in mlx/distributed/jaccl/lib/jaccl/rdma.cpp and RingGroup in mlx/distributed/ring/ring.cpp
 */
export function phases({ nodes, transport }: Pick<DesiredPlacement, 'nodes' | 'transport'>): readonly StartPhase[] {
  if (transport === 'tcp' || nodes.length === 1) return [{ ranks: 'all', until: 'joined' }];
  return [
    { ranks: 'leader', until: 'meeting' },
    { ranks: 'followers', until: 'joined' },
  ];
}

/**
 * Lines that the rank program writes about its group, and those that tell of a failure, for awk.
 *
 * @see signatures, each of which is met by it, but for those that only say to wait
 */
export const logPattern =
  '^meshwright: group of [0-9]+ ranks over |[[](jaccl|ring)[]] [^C]|queue pair|completion queue|rotection domain|create_qp|failed with err|Couldn.t (connect|bind) |Could not (find|open) device|Register memory region|IPv4-mapped GID|Address already in use|OutOfMemory|metal::malloc|GPU Timeout|Segmentation fault|ibv_reg_mr|does not support |MLX converted models|Model type .* not supported|unrecognized arguments|No module named ';

const groupLine = /^meshwright: group of (\d{1,4}) ranks over (jaccl|ring|none)$/;

/** How many ranks joined, and over what: the last such line counts. */
export function observe(said: readonly string[]): RuntimeSight {
  const [, size, backend] = said.flatMap((line) => groupLine.exec(line) ?? []).slice(-3);
  if (size === undefined) return {};
  if (backend === 'none') return { size: Number(size) };
  return { size: Number(size), transport: backend === 'jaccl' ? 'rdma' : 'tcp' };
}

/** mlx-lm, one rank per node: over RDMA by JACCL, in a full mesh or a ring, or over sockets. */
export const mlx: RuntimeDriver<MlxRuntime> = {
  id: 'mlx',
  keys: { needs: ['python', 'requirements'], takes: ['wheels'], ofPlacements: ['args', 'parallel', 'backend'] },
  configure,
  memory,
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
  // A rank whose peer has gone spins in its collective and ends by KILL alone. @see docs/mesh.md
  stopOrder: 'together',
  // The smallest program that uses the default device: the GPU, unless mlx was built without it.
  gpuQuestion: (_runtime, folder) => ({
    argv: [below(folder, mlxPython), '-c', 'import mlx.core as mx; print((mx.ones(1) + 1).item())'],
    shows: '^2',
  }),
  // Python takes it as an exception, so that the group is left in order. @see docs/mesh.md
  interruptMs: 10_000,
  logPattern,
  signatures,
  observe,
};
