import { linkText } from '../../desired/addresses.ts';
import { sourceOf } from '../../desired/settle/settle-trees.ts';
import type { DesiredPlacement } from '../../model/desired.ts';
import { everyPair } from '../../model/lists.ts';
import { type LinkEnd, linkEndText } from '../../model/node.ts';
import { below } from '../../node/paths/node-paths.ts';
import { endTowards, linksBetween } from '../contract/addresses.ts';
import { countedChatRequest } from '../contract/chat-request.ts';
import {
  ownFiles,
  ownMemory,
  ownModel,
  ownPlace,
  type ReservedWords,
  refuse,
  refused,
  reserve,
  reservedFindings,
  sameLibraries,
} from '../contract/checks.ts';
import {
  type LoggedMesh,
  leaderMeets,
  type PlacementCheck,
  type PlacementFinding,
  type RankMatrix,
  type RuntimeDriver,
  type StartWave,
  together,
} from '../contract/driver.ts';
import {
  type Backend,
  backendOf,
  groupNeeds,
  groupVariables,
  isFullMesh,
  isRing,
  jacclGid,
  mostMeshRanks,
  ringHops,
  usedPerHop,
} from '../contract/mlx-group.ts';
import { oldestMlxLm } from '../known/model-types.ts';
import { logPattern, requestPattern, signatures } from '../messages/mlx-lm.ts';
import { mlxApi } from './api.ts';
import { configure, memory, mlxPython } from './configure.ts';
import { keys, type MlxRuntime } from './runtime.ts';
import { judgeSplit, type SplitProblem, splitAdvice, splitProblems, tooOld } from './shards.ts';

type Check = PlacementCheck<MlxRuntime>;

/** All objections to a mlx placement before any rank starts, except memory. */
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

function backendFindings(one: Check): readonly PlacementFinding[] {
  const { placement, fleet } = one;
  const { thunderbolt } = fleet;
  const { nodes, transport, backend } = placement;
  if (nodes.length === 1) return [];
  const cables: RankMatrix = nodes.map((node) =>
    nodes.map((other) => (node !== other && endTowards(thunderbolt, node, other) !== undefined ? 'cable' : null)),
  );
  if (backend !== undefined && (backend === 'ring') !== (transport === 'tcp')) {
    const detail = `The backend ${backend} does not work over ${transport}.`;
    return [refused('mlx/backend-against-transport', detail)];
  }
  const chosen = backendOf(placement, cables);
  if (chosen === 'jaccl' && nodes.length > mostMeshRanks) {
    const detail = `${placement.name} has ${nodes.length} nodes; a JACCL full mesh has at most ${mostMeshRanks}.`;
    return [refused('mlx/too-many-ranks', detail)];
  }
  const areEnough = chosen === 'jaccl' ? isFullMesh(cables) : isRing(cables);
  if (!areEnough) return [refused('mlx/backend-needs-cables', lack(chosen))];
  return [...unusedCables(chosen, nodes, thunderbolt), ...(chosen === 'jaccl-ring' ? leftOut(one) : [])];
}

/** Declared cables that this backend does not use: only a JACCL ring uses several cables to one neighbor. */
function unusedCables(
  backend: Backend,
  nodes: Check['placement']['nodes'],
  thunderbolt: Check['fleet']['thunderbolt'],
): readonly PlacementFinding[] {
  const counts = everyPair(nodes).map(([node, other]) => {
    return { node, other, count: linksBetween(thunderbolt, node, other).length };
  });
  const hops = nodes.map((node, rank) => linksBetween(thunderbolt, node, nodes.at(rank - 1) ?? node).length);
  const used = backend === 'jaccl-ring' ? usedPerHop(hops) : 1;
  const idle = counts.filter(({ count }) => count > Math.max(1, used));
  if (idle.length === 0) return [];
  const words = idle.map(({ node, other, count }) => `${count} cables connect ${node} and ${other}`).join(', ');
  const detail = `${words}; the backend ${backend} uses only ${used} per pair.`;
  return [{ code: 'mlx/cable-unused', severity: 'notice', detail }];
}

const lack = (backend: Backend): string =>
  backend === 'jaccl'
    ? 'The backend jaccl needs a cable between every pair of nodes; some pairs have none.'
    : `The backend ${backend} needs cables that form a ring in rank order; some are missing.`;

function ageFindings({ runtime: { packages } }: Check): readonly PlacementFinding[] {
  const old = tooOld(packages?.['mlx-lm'] ?? oldestMlxLm);
  return old === undefined ? [] : [refused('mlx/too-old', old.detail)];
}

const codeOf = {
  'not-loaded': { code: 'mlx/cannot-load', severity: 'error' },
  'no-way': { code: 'mlx/cannot-split', severity: 'error' },
  'not-known': { code: 'mlx/not-known-to-split', severity: 'warning' },
  'not-divisible': { code: 'placement/not-divisible', severity: 'error' },
  'lost-layers': { code: 'mlx/lost-layers', severity: 'error' },
} as const satisfies Record<Exclude<SplitProblem['kind'], 'too-old'>, Pick<PlacementFinding, 'code' | 'severity'>>;

/**
 * Checks whether mlx-lm can load the model and split it this way; no findings if the model or the version of mlx-lm is
 * unknown, or if the version is too old for any model.
 */
function splitFindings({ placement, runtime, model: { shape } }: Check): readonly PlacementFinding[] {
  const mlxLm = runtime.packages?.['mlx-lm'];
  const { sharding = 'tensor', nodes } = placement;
  if (shape === undefined || mlxLm === undefined) return [];
  const fork = sourceOf(runtime) === undefined ? {} : ({ isFork: true } as const);
  return splitProblems({ shape, sharding, size: nodes.length, mlxLm, ...fork }).flatMap(({ kind, detail }) =>
    kind === 'too-old' ? [] : [{ ...codeOf[kind], detail }],
  );
}

function contextFindings({ placement: { contextTokens }, model: { shape } }: Check): readonly PlacementFinding[] {
  const most = shape?.maxContext;
  if (most === undefined || contextTokens <= most) return [];
  const detail = `The context is ${contextTokens} tokens long; the model was trained for at most ${most}.`;
  return [{ code: 'mlx/context-too-long', severity: 'warning', detail }];
}

function variableFindings({ placement: { env } }: Check): readonly PlacementFinding[] {
  if (!Object.hasOwn(env, 'MLX_METAL_FAST_SYNCH')) return [];
  return [{ code: 'mlx/fast-synch', severity: 'warning', detail: '`env` sets MLX_METAL_FAST_SYNCH.' }];
}

/** Compares the model's Python files with the approved ones. */
function codeFindings({ model: { files, trustedCode, shape } }: Check): readonly PlacementFinding[] {
  const code = files.filter(({ path }) => path.endsWith('.py'));
  const shown = code.map(({ path, sha256 }) => `${path}: ${sha256}`).join(', ');
  if (trustedCode === undefined) {
    if (shape?.hasOwnCode !== true || code.length === 0) return [];
    return [{ code: 'mlx/own-code', severity: 'warning', detail: `The model's code files: ${shown}.` }];
  }
  const trusted = new Map(Object.entries(trustedCode));
  const isSame = code.length === trusted.size && code.every(({ path, sha256 }) => trusted.get(path) === sha256);
  const detail = code.length === 0 ? 'The model contains no code.' : `The model's code files: ${shown}.`;
  // An empty list means that the files were not read yet.
  return isSame || files.length === 0 ? [] : [refused('mlx/other-code', detail)];
}

/**
 * Compares libraries. Ranks exchange Python objects and tensor bytes without comparing versions, so all ranks need
 * exactly the same libraries. Nodes without libraries are checked again before the start.
 */
function libraryFindings({ placement, runtime, nodes }: Check): readonly PlacementFinding[] {
  if (placement.nodes.length === 1) return [];
  const { unwritten, differences } = sameLibraries(runtime, nodes);
  const unknown = `The library versions on ${unwritten.join(' and ')} were not recorded.`;
  return [
    ...(unwritten.length === 0 ? [] : [refused('mlx/libraries-unknown', unknown)]),
    ...(differences.length === 0 ? [] : [refused('mlx/libraries-differ', `${differences.join('; ')}.`)]),
  ];
}

/**
 * Checks firewalls. Ranks first connect over TCP: with JACCL all to the leader, in a TCP ring each to its neighbor. A
 * firewall that is on may still let ranks through, which doctor reports. A firewall that the file disables is off
 * before any start.
 */
function firewallFindings({ placement, nodes, fleet: { system } }: Check): readonly PlacementFinding[] {
  const { nodes: placed, transport } = placement;
  if (placed.length === 1 || system.firewall === 'disabled') return [];
  const reached = transport === 'tcp' ? nodes : nodes.slice(0, 1);
  const closed = reached.filter(({ mac }) => mac?.firewall.kind === 'known' && mac.firewall.value === 'blocks-all');
  if (closed.length === 0) return [];
  const detail = `The firewall of ${closed.map(({ node }) => node).join(' and ')} blocks all connections from other ranks.`;
  return [refused('mlx/firewall-blocks', detail)];
}

const ownGroup = "Each start forms the group from the placement's cables and nodes.";
const ownPackages = "Add the package to the runtime's requirements.";

/** Words that the driver sets for mlx and mlx_lm.server, or forbids. */
export const reserved: ReservedWords = {
  reading: 'abbreviated',
  env: [
    ...reserve(ownGroup, ...groupVariables),
    ...reserve(ownGroup, 'JACCL_RANK', 'JACCL_IBV_DEVICES', 'JACCL_COORDINATOR'),
    ...reserve('Use `backend: jaccl-ring`.', 'MLX_JACCL_RING', 'JACCL_RING'),
    ...reserve(ownModel, 'HF_HUB_OFFLINE', 'HF_HUB_CACHE', 'TRANSFORMERS_OFFLINE', 'HF_HOME'),
    ...reserve(ownPackages, 'PYTHONPATH', 'PYTHONNOUSERSITE'),
    ...reserve('Use the runtime key `python`.', 'PYTHONHOME'),
    ...reserve('Python must not write bytecode into the installed runtime.', 'PYTHONDONTWRITEBYTECODE'),
  ],
  args: [
    ...reserve(ownModel, '--model'),
    ...reserve(ownPlace, '--host', '--port'),
    ...reserve('Use `sharding: pipeline`.', '--pipeline'),
    ...reserve('Use `parallel`.', '--decode-concurrency', '--prompt-concurrency'),
    ...reserve(ownMemory, '--prompt-cache-bytes'),
    ...refuse(
      'adds model files, which mlx-lm rejects on several nodes and the memory plan does not count',
      ownFiles,
      ...['--adapter-path', '--draft-model'],
    ),
    {
      word: '--log-level',
      because: 'at DEBUG writes every prompt and answer into the log',
      use: 'INFO is the default; WARNING, ERROR and CRITICAL are allowed too.',
      unless: ['INFO', 'WARNING', 'ERROR', 'CRITICAL'],
    },
    ...reserve('Use `models.<name>.trustRemoteCode`.', '--trust-remote-code'),
  ],
};

/**
 * Reports additional cables that a JACCL ring does not use because the device of an end was not observed. A hop without
 * its first cable and a node without facts prevent a start; both are reported elsewhere.
 */
function leftOut(check: Check): readonly PlacementFinding[] {
  const { placement, fleet, nodes, names } = check;
  if (names === undefined) return [];
  const hops = ringHops(placement.nodes, fleet.thunderbolt);
  const isUnseen = (end: LinkEnd): boolean =>
    names.device(end) === undefined && nodes.some(({ node, mac }) => node === end.node && mac !== undefined);
  const seen = hops.map((links) => links.filter(({ ends }) => !ends.some(isUnseen)));
  const [declared, used] = [hops, seen].map((all) => usedPerHop(all.map(({ length }) => length)));
  if (declared === undefined || used === undefined || used >= declared || used === 0) return [];
  // A hop that still has enough cables is not affected.
  const short = hops.filter((_, hop) => (seen[hop]?.length ?? 0) < declared);
  const lost = short.flatMap((links) => links.slice(1).filter(({ ends }) => ends.some(isUnseen)));
  const ends = lost.flatMap((link) => link.ends.filter(isUnseen));
  if (ends.length === 0) return [];
  const words = `The RDMA device of ${ends.map(linkEndText).join(', ')} was not observed, so a start does not use ${lost.map((link) => linkText(link.ends)).join(', ')}`;
  const detail = `${words}; every hop of the ring uses ${used} of ${declared} cables.`;
  return [{ code: 'mlx/cable-left-out', severity: 'notice', detail }];
}

/**
 * Over JACCL, the leader starts first. The others try only four times within 15 seconds, so they start in parallel once
 * the leader listens. This is checked on the leader's own node, because a connection to that port counts as a rank. In
 * a TCP ring, each rank listens for one neighbor and tries the other for 30 seconds, so all start together.
 *
 * @see TCPAllGather in mlx/distributed/jaccl/lib/jaccl/rdma.cpp and RingGroup in mlx/distributed/ring/ring.cpp
 */
export function waves({ nodes, transport }: Pick<DesiredPlacement, 'nodes' | 'transport'>): readonly StartWave[] {
  return transport === 'tcp' || nodes.length === 1 ? together : leaderMeets;
}

const groupLine = /^meshwright: group of (\d{1,4}) ranks over (jaccl|ring|none)$/;

/** The number of ranks that joined and their transport, from the last such line. */
export function observe(said: readonly string[]): LoggedMesh {
  const [, size, backend] = said.flatMap((line) => groupLine.exec(line) ?? []).slice(-3);
  if (size === undefined) return {};
  if (backend === 'none') return { size: Number(size) };
  return { size: Number(size), transport: backend === 'jaccl' ? 'rdma' : 'tcp' };
}

/** mlx-lm, one rank per node: JACCL over RDMA (full mesh or ring), or a TCP ring. */
export const mlx: RuntimeDriver<MlxRuntime> = {
  id: 'mlx',
  keys,
  configure,
  memory,
  check,
  judgeSplit,
  splitAdvice,
  canUseTcp: true,
  needs: groupNeeds,
  sendsFromGid: jacclGid,
  pairVersions: ({ packages = {} }) => packages,
  // With any other name, all ranks would unload their model and look for that one.
  // `usage` is the number of generated tokens, including those of `<think>`, which are not in the text.
  // @see mlx_lm/server.py at d78bf58, lines 1441 (tokens.append) and 1503 (len(tokens))
  tokenRequest: () => countedChatRequest('default_model'),
  // Both ranks exited, and clients got an empty reply. @see mlx-lm issue 1737 (JACCL, mlx 0.32.0, mlx-lm 0.31.3)
  takesOneRequest: ({ nodes }) => nodes.length > 1,
  // The server notices at its next write, and writes an answer without a stream only at its end. With several ranks, a
  // canceled request with a seed, with images or of a model without batches fails with NotImplementedError on rank 0
  // only, and the mesh hangs. @see _serve_single and _is_batchable in mlx_lm/server.py of mlx-lm 0.31.0 to 0.32.2
  cancels: (ranks) => (ranks === 1 ? 'streams' : 'never'),
  api: mlxApi,
  waves,
  // It is not confirmed that sums across several Macs are bit-identical in every start.
  goldenCheck: () => 'printable',
  backendOf,
  canRestartOne: () => false,
  // A rank that has lost its peer spins in its collective and stops only on KILL. @see docs/mesh.md
  stopOrder: 'together',
  // The smallest program that uses the default device, which is the GPU unless mlx was built without it.
  gpuQuestion: (_runtime, folder) => ({
    argv: [below(folder, mlxPython), '-c', 'import mlx.core as mx; print((mx.ones(1) + 1).item())'],
    shows: '^2',
  }),
  // INT raises an exception in Python, so a single rank shuts down in order. Several ranks over a TCP ring end within two
  // seconds, but by an abort (mlx 0.32.4 on Linux); over JACCL it was never tried. @see docs/unverified.md
  interruptMs: 10_000,
  logPattern,
  requestPattern,
  signatures,
  observe,
};
