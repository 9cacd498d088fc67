import { linkText } from '../../desired/addresses.ts';
import type { DesiredPlacement } from '../../model/desired.ts';
import { type Link, type LinkEnd, linkEndText } from '../../model/node.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { below } from '../../node/paths/node-paths.ts';
import { endTowards, linksBetween } from '../contract/addresses.ts';
import { countedChatRequest } from '../contract/chat-request.ts';
import { type ReservedWords, refused, reserve, reservedFindings, sameLibraries } from '../contract/checks.ts';
import type {
  FailureSignature,
  PlacementCheck,
  PlacementFinding,
  RankMatrix,
  RuntimeDriver,
  RuntimeSight,
  StartPhase,
} from '../contract/driver.ts';
import { gpuSignatures, jacclSignatures } from '../contract/signatures.ts';
import { type Backend, backendOf, configure, isFullMesh, isRing, memory, mlxPython, usedPerHop } from './configure.ts';
import { keys, type MlxRuntime } from './runtime.ts';
import { judgeSplit, oldestVersion, type SplitProblem, splitAdvice, splitProblems, tooOld } from './shards.ts';

type Check = PlacementCheck<MlxRuntime>;

/** Everything that speaks against a placement of mlx before a rank is started; its memory is judged elsewhere. */
export const check = (one: Check): readonly PlacementFinding[] => [
  ...backendFindings(one),
  ...ageFindings(one),
  ...splitFindings(one),
  ...contextFindings(one),
  ...variableFindings(one),
  ...codeFindings(one),
  ...libraryFindings(one),
  ...firewallFindings(one),
  ...reservedFindings(one.placement, reserved),
];

/** Peers that one rank of a full mesh can have at most. @see MESH_MAX_PEERS in mlx/distributed/jaccl of mlx 0.32 */
const mostRanks = 8;

function backendFindings(one: Check): readonly PlacementFinding[] {
  const { placement, fleet } = one;
  const { thunderbolt } = fleet;
  const { nodes, transport, backend } = placement;
  if (nodes.length === 1) return [];
  const cables: RankMatrix = nodes.map((node) =>
    nodes.map((other) => (node !== other && endTowards(thunderbolt, node, other) !== undefined ? 'cable' : null)),
  );
  if (backend !== undefined && (backend === 'ring') !== (transport === 'tcp')) {
    const detail = `The backend ${backend} does not talk over ${transport}.`;
    return [refused('mlx/backend-against-transport', detail)];
  }
  const chosen = backendOf(placement, cables);
  if (chosen === 'jaccl' && nodes.length > mostRanks) {
    const detail = `It has ${nodes.length} nodes; a full mesh of JACCL has at most ${mostRanks}.`;
    return [refused('mlx/too-many-ranks', detail)];
  }
  if (!areEnough(chosen, cables)) return [refused('mlx/backend-needs-cables', lack(chosen))];
  return [...unusedCables(chosen, nodes, thunderbolt), ...(chosen === 'jaccl-ring' ? leftOut(one) : [])];
}

/** Cables that are declared and that this backend has no use for: only a ring of JACCL takes several to one neighbour. */
function unusedCables(
  backend: Backend,
  nodes: Check['placement']['nodes'],
  thunderbolt: Check['fleet']['thunderbolt'],
): readonly PlacementFinding[] {
  const counts = nodes.flatMap((node, rank) =>
    nodes.slice(rank + 1).map((other) => ({ node, other, count: linksBetween(thunderbolt, node, other).length })),
  );
  const hops = nodes.map((node, rank) => {
    const next = nodes[(rank + 1) % nodes.length];
    return next === undefined ? 0 : linksBetween(thunderbolt, node, next).length;
  });
  const used = backend === 'jaccl-ring' ? usedPerHop(hops) : 1;
  const idle = counts.filter(({ count }) => count > Math.max(1, used));
  if (idle.length === 0) return [];
  const words = idle.map(({ node, other, count }) => `${count} cables join ${node} and ${other}`).join(', ');
  const detail = `${words}; the backend ${backend} uses ${used} of each pair here.`;
  return [{ code: 'mlx/cable-unused', severity: 'notice', detail }];
}

const areEnough = (backend: Backend, cables: RankMatrix): boolean =>
  backend === 'jaccl' ? isFullMesh(cables) : isRing(cables);

const lack = (backend: Backend): string =>
  backend === 'jaccl'
    ? 'Not every pair of its nodes has a cable, which the backend jaccl needs.'
    : `Its nodes are not cabled to a ring in rank order, which the backend ${backend} needs.`;

function ageFindings({ runtime: { packages } }: Check): readonly PlacementFinding[] {
  const old = tooOld(packages?.['mlx-lm'] ?? oldestVersion);
  return old === undefined ? [] : [refused('mlx/too-old', old.detail)];
}

const codeOf = {
  'no-way': { code: 'mlx/cannot-split', severity: 'error' },
  'not-known': { code: 'mlx/not-known-to-split', severity: 'warning' },
  'not-divisible': { code: 'placement/not-divisible', severity: 'error' },
  'lost-layers': { code: 'mlx/lost-layers', severity: 'error' },
} as const satisfies Record<Exclude<SplitProblem['kind'], 'too-old'>, Pick<PlacementFinding, 'code' | 'severity'>>;

/** Nothing where the model or the version of mlx-lm is not known, or the version is too old for any. */
function splitFindings({ placement, runtime, model: { shape } }: Check): readonly PlacementFinding[] {
  const version = runtime.packages?.['mlx-lm'];
  const { sharding, nodes } = placement;
  if (shape === undefined || version === undefined || sharding === undefined) return [];
  return splitProblems({ shape, sharding, size: nodes.length, version }).flatMap(({ kind, detail }) =>
    kind === 'too-old' ? [] : [{ ...codeOf[kind], detail }],
  );
}

function contextFindings({ placement: { contextTokens }, model: { shape } }: Check): readonly PlacementFinding[] {
  const most = shape?.maxContext;
  if (most === undefined || contextTokens <= most) return [];
  const detail = `The context of ${contextTokens} tokens is longer than the ${most} that the model was trained for.`;
  return [{ code: 'mlx/context-too-long', severity: 'warning', detail }];
}

function variableFindings({ placement: { env } }: Check): readonly PlacementFinding[] {
  if (!Object.hasOwn(env, 'MLX_METAL_FAST_SYNCH')) return [];
  return [{ code: 'mlx/fast-synch', severity: 'warning', detail: 'MLX_METAL_FAST_SYNCH stands in its `env`.' }];
}

/** Python files of the model against the approved ones. */
function codeFindings({ model: { files, trustedCode, shape } }: Check): readonly PlacementFinding[] {
  const code = files.filter(({ path }) => path.endsWith('.py'));
  const shown = code.map(({ path, sha256 }) => `${path}: ${sha256}`).join(', ');
  if (trustedCode === undefined) {
    if (shape?.hasOwnCode !== true || code.length === 0) return [];
    return [{ code: 'mlx/own-code', severity: 'warning', detail: `Its code is ${shown}.` }];
  }
  const trusted = new Map(Object.entries(trustedCode));
  const isSame = code.length === trusted.size && code.every(({ path, sha256 }) => trusted.get(path) === sha256);
  const detail = code.length === 0 ? 'It has no code of its own.' : `Its code is ${shown}.`;
  // A list of files that was not read yet says nothing.
  return isSame || files.length === 0 ? [] : [refused('mlx/other-code', detail)];
}

/**
 * Ranks send each other Python objects and bytes of tensors without any handshake of versions, so all of them have to
 * have the very same libraries. Members that have none yet are seen again before the start.
 */
function libraryFindings({ placement, runtime, nodes }: Check): readonly PlacementFinding[] {
  if (placement.nodes.length === 1) return [];
  const { unwritten, differences } = sameLibraries(runtime, nodes);
  const unknown = refused(
    'mlx/libraries-unknown',
    `Nobody wrote down what was installed on ${unwritten.join(' and ')}.`,
  );
  const differ = refused('mlx/libraries-differ', `${differences.join('; ')}.`);
  return [...(unwritten.length === 0 ? [] : [unknown]), ...(differences.length === 0 ? [] : [differ])];
}

/**
 * Ranks reach others by TCP before anything else: over JACCL all of them the leader, over sockets each its neighbour. A
 * firewall that is only on may let them in, and the doctor reports it. One that the file wants off is switched off
 * before any start.
 */
function firewallFindings({ placement, nodes, fleet: { system } }: Check): readonly PlacementFinding[] {
  const { nodes: placed, transport } = placement;
  if (placed.length === 1 || system.firewall === 'disabled') return [];
  const reached = transport === 'tcp' ? nodes : nodes.slice(0, 1);
  const closed = reached.filter(({ mac }) => mac?.firewall.kind === 'known' && mac.firewall.value === 'blocks-all');
  if (closed.length === 0) return [];
  const detail = `The firewall of ${closed.map(({ node }) => node).join(' and ')} blocks everything that other ranks send.`;
  return [refused('mlx/firewall-blocks', detail)];
}

const ownGroup = 'Every start makes the group anew, from the cables and the nodes of the placement.';
const ownModel = 'The model is that of `model`, from the folder that apply brought.';
const ownPackages = 'Put it into the requirements of the runtime.';

const ownFiles = 'What apply has not brought is neither checked nor counted.';

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

/** The cables of each hop of a ring in rank order; the one hop between two ranks once. */
const hopsOf = ({ placement: { nodes }, fleet: { thunderbolt } }: Check): readonly (readonly Link[])[] =>
  nodes.slice(0, nodes.length === 2 ? 1 : nodes.length).flatMap((node, rank) => {
    const next = nodes[(rank + 1) % nodes.length];
    return next === undefined ? [] : [linksBetween(thunderbolt, node, next)];
  });

/**
 * Further cables that a start of a ring of JACCL leaves out because the device of an end was not observed. Without the first
 * cable of a hop nothing is started, and a node without facts is waited for: both are reported elsewhere.
 */
function leftOut(check: Check): readonly PlacementFinding[] {
  const { nodes, names } = check;
  if (names === undefined) return [];
  const hops = hopsOf(check);
  const isUnseen = (end: LinkEnd): boolean =>
    names.device(end) === undefined && nodes.some(({ node, mac }) => node === end.node && mac !== undefined);
  const seen = hops.map((links) => links.filter(({ ends }) => !ends.some(isUnseen)));
  const [declared, used] = [hops, seen].map((all) => usedPerHop(all.map(({ length }) => length)));
  if (declared === undefined || used === undefined || used >= declared || used === 0) return [];
  // A hop that has enough without it misses nothing.
  const short = hops.filter((_, hop) => (seen[hop]?.length ?? 0) < declared);
  const lost = short.flatMap((links) => links.slice(1).filter(({ ends }) => ends.some(isUnseen)));
  const ends = lost.flatMap((link) => link.ends.filter(isUnseen));
  if (ends.length === 0) return [];
  const words = `The RDMA device of ${ends.map(linkEndText).join(', ')} was not seen, so a start leaves out ${lost.map((link) => linkText(link.ends)).join(', ')}`;
  const detail = `${words}; every hop of the ring uses ${used} of ${declared} cables.`;
  return [{ code: 'mlx/cable-left-out', severity: 'notice', detail }];
}

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
