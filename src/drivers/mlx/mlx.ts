import type { DesiredPlacement } from '../../model/desired.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { below } from '../../node/paths/node-paths.ts';
import { countedChatRequest } from '../contract/chat-request.ts';
import type { FailureSignature, RuntimeDriver, RuntimeSight, StartPhase } from '../contract/driver.ts';
import { gpuSignatures, jacclSignatures } from '../contract/signatures.ts';
import { check } from './check.ts';
import { configure, memory, mlxPython } from './configure.ts';
import { keys, type MlxRuntime } from './runtime.ts';
import { judgeSplit, oldestVersion, splitAdvice } from './shards.ts';

/** What else keeps a group from coming together. */
const ofTheGroup: readonly FailureSignature[] = [
  {
    id: 'no-group',
    pattern: /^meshwright: group of \d+ ranks over \w+ instead of \d+/,
    meaning: 'The ranks did not find each other, so the model was not loaded.',
    action: 'restart',
    cure: 'Restart the placement.',
  },
  {
    id: 'no-configuration',
    pattern: /\[(?:jaccl|ring)\] (?:You need to provide via environment|The (?:configuration|device file|devices) )/,
    meaning: 'A rank was started without the files that its group is made from.',
    action: 'report',
    cure: 'Start anew; if it comes back, report it with the log.',
  },
  {
    id: 'connecting',
    pattern: /Connection attempt \d+ waiting \d+ ms/,
    meaning: 'A rank waits for the leader, which is normal for fifteen seconds.',
    action: 'wait',
    cure: 'Wait.',
  },
];

/** What goes wrong with the model, or with whoever was there before. */
const ofTheModel: readonly FailureSignature[] = [
  {
    id: 'peer-lost',
    pattern: /\[ring\] (?:connection to a peer was lost|Too many send\/recv errors)/,
    meaning: 'Another rank is gone.',
    action: 'restart',
    cure: 'Restart the placement: a lost rank never comes back alone.',
  },
  {
    id: 'segfault',
    pattern: /Fatal Python error: Segmentation fault|\bibv_reg_mr\b/,
    meaning: 'The rank crashed, as it does where RDMA is not there.',
    action: 'apply',
    cure: prose`Look at RDMA on this Mac (\`${aside(meshwright('doctor'))}\`).`,
  },
  {
    id: 'cannot-split',
    pattern: /does not support (?:any sharding|tensor parallelism|pipelining)/,
    meaning: 'This version of mlx-lm cannot split this kind of model so.',
    action: 'change-file',
    cure: 'Choose the other kind of sharding, a newer mlx-lm, or one node.',
  },
  {
    id: 'not-converted',
    pattern: /Pipeline loading is only supported for MLX converted models/,
    meaning: 'A pipeline takes only models that were converted for mlx.',
    action: 'change-file',
    cure: 'Take a converted model, with its model.safetensors.index.json.',
  },
  {
    id: 'unknown-model',
    pattern: /Model type \S+ not supported/,
    meaning: 'This version of mlx-lm does not know this kind of model.',
    action: 'change-file',
    cure: 'Put a newer mlx-lm into the requirements.',
  },
  {
    id: 'unknown-option',
    pattern: /: error: unrecognized arguments: /,
    meaning: 'This mlx-lm does not know an option that it was started with.',
    action: 'change-file',
    cure: `Put mlx-lm ${oldestVersion} or newer into the requirements, and correct \`args\`.`,
  },
  {
    id: 'no-package',
    pattern: /ModuleNotFoundError: No module named '/,
    meaning: 'A package of Python is missing in the runtime.',
    action: 'change-file',
    cure: 'Compile the requirements again, with mlx-lm and everything that it needs.',
  },
];

/**
 * What the log of a rank tells of. A peer that is lost over RDMA has no line: the others wait for it for ever, with
 * nothing in their logs, and only a token shows it.
 *
 * @see mlx/distributed/jaccl, mlx/distributed/ring of mlx 0.32 and mlx_lm/utils.py of mlx-lm 0.32 for the words;
 * issues 3777, 3910, 4191, 4209, 4530 of ml-explore/mlx and 1847 of exo for what they mean
 */
export const signatures: readonly FailureSignature[] = [
  ...jacclSignatures,
  ...gpuSignatures,
  ...ofTheGroup,
  ...ofTheModel,
];

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
  keys,
  configure,
  memory,
  check,
  judgeSplit,
  splitAdvice,
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
  // Of several ranks of mlx_lm.server none can be told to give an answer up: it ends with NotImplementedError.
  cancels: 'alone',
  // The server takes them with the name of the model: another set unloads it, on every rank. @see ModelProvider of mlx_lm/server.py
  refusedFields: ['draft_model', 'adapters', 'num_draft_tokens'],
  phases,
  // Whether sums over several Macs are equal to the last bit in every start, nobody has confirmed.
  goldenCheck: () => 'printable',
  canRestartOne: () => false,
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
