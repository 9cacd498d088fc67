import { linkText } from '../../desired/addresses.ts';
import { type Link, type LinkEnd, linkEndText } from '../../model/node.ts';
import { endTowards, linksBetween } from '../contract/addresses.ts';
import { type ReservedWords, refused, reserve, reservedFindings, sameLibraries } from '../contract/checks.ts';
import type { PlacementCheck, PlacementFinding, RankMatrix } from '../contract/driver.ts';
import { type Backend, backendOf, isFullMesh, isRing, usedPerHop } from './configure.ts';
import type { MlxRuntime } from './runtime.ts';
import { oldestVersion, type SplitProblem, splitProblems, tooOld } from './shards.ts';

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

/** Python files of the model against those that somebody has agreed to. */
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
  // A list of files that nobody has read yet says nothing.
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
 * firewall that is only on may let them in, and is told of by the doctor. One that the file wants off is switched off
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
 * Further cables that a start of a ring of JACCL leaves out because nobody saw the device of an end. Without the first
 * cable of a hop nothing is started, and a node without facts is waited for: both are told elsewhere.
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
