import type { DesiredPlacement } from '../../model/desired.ts';
import { digestOf, type Json } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { joinText } from '../../model/lists.ts';
import type { NodePath } from '../../model/probe.ts';
import type { Text } from '../../model/step.ts';
import { below, nodePath } from '../../node/paths/node-paths.ts';
import { requestAt } from '../contract/chat-request.ts';
import { type ReservedWords, refused, reserve, reservedFindings } from '../contract/checks.ts';
import {
  followersFirst,
  leaderFirst,
  leaderMeets,
  type PlacementCheck,
  type PlacementFinding,
  type RankCommand,
  type RankFile,
  type RankPlace,
  type RankPreparation,
  type RuntimeDriver,
  type StartWave,
  type TokenRequest,
  together,
} from '../contract/driver.ts';
import {
  backendOf,
  groupEnvironment,
  groupFiles,
  groupNeeds,
  groupVariables,
  hostfileName,
  hostfileOf,
  mostMeshRanks,
} from '../contract/mlx-group.ts';
import { macosSignatures } from '../messages/macos.ts';
import { type CommandField, fieldsOf, fieldsOfStarts, fillFields } from './fields.ts';
import { type CommandRuntime, keys } from './runtime.ts';

/** The smallest request that yields one token. The cluster file sets its path and the JSON pointer to the token. */
const tokenRequest = ({ model }: DesiredPlacement, { token }: CommandRuntime): TokenRequest => ({
  ...requestAt(token.path, model),
  pointer: token.json,
});

const wavesByOrder = { 'leader-first': leaderFirst, 'followers-first': followersFirst, together } as const;

/** The file's order; a single rank waits for no follower. */
function waves({ nodes }: Pick<DesiredPlacement, 'nodes'>, { order, meeting }: CommandRuntime): readonly StartWave[] {
  return meeting !== undefined && nodes.length > 1 ? leaderMeets : wavesByOrder[order];
}

const dataName = (key: string): string => (key === '' ? 'data' : `data-${key.slice(0, 16)}`);

/** Variables that `variables: mlx` sets. */
const reserved: ReservedWords = {
  reading: 'whole',
  env: reserve(
    '`variables: mlx` sets it from the cables and nodes of each start.',
    ...groupVariables,
    'MLX_JACCL_RING',
  ),
  args: [],
};

/** The account whose home contains a path, by the folder's name; undefined outside /Users. */
const ownerOf = (path: string): string | undefined => /^\/Users\/(?!Shared\/)([^/]+)\//.exec(path)?.[1];

/**
 * Warns if the program is in the home of an account other than the ranks' account.
 *
 * @see docs/unverified.md: the mode of a home, and who may enter it
 */
function inHome({ placement, runtime, fleet }: PlacementCheck<CommandRuntime>): readonly PlacementFinding[] {
  const { ranks } = fleet.system.accounts;
  const paths = new Set(programsOutside(runtime).flatMap((program) => program?.path ?? []));
  return [...paths].flatMap((path): readonly PlacementFinding[] => {
    const owner = ownerOf(path);
    if (ranks === undefined || owner === undefined || owner === ranks) return [];
    const detail = `The ranks of ${placement.name} run as ${ranks}, and ${path} is in the home of ${owner}.`;
    return [{ code: 'placement/program-in-home', severity: 'warning', detail }];
  });
}

/** Objections to MLX's variables: the file sets one of them, or the mesh is too large. */
function groupFindings({ placement, runtime }: PlacementCheck<CommandRuntime>): readonly PlacementFinding[] {
  if (runtime.variables === undefined) return [];
  const { nodes, transport, sharding } = placement;
  const taken = reservedFindings({ env: { ...runtime.env, ...placement.env }, args: [] }, reserved);
  if (transport !== 'rdma' || sharding !== 'tensor' || nodes.length <= mostMeshRanks) return taken;
  const detail = `${placement.name} has ${nodes.length} nodes; a JACCL full mesh has at most ${mostMeshRanks}.`;
  return [...taken, refused('mlx/too-many-ranks', detail)];
}

/** The command line of one rank with all fields filled in. Node paths still lack their root prefix. */
function configure(place: RankPlace<CommandRuntime>): RankCommand {
  const { placement, runtime } = place;
  const values = fieldValues(place, preparationOf(place)?.key ?? '');
  const filled = (text: string): Text => joinText(fillFields(text, (field) => [values[field]]));
  const words = wordsOf(place).map(filled);
  const env = Object.entries({ ...runtime.env, ...placement.env }).map(([name, text]) => [name, filled(text)] as const);
  const group = groupOf(place);
  return {
    argv: words.map((word, index) => (index === 0 ? programWord(word) : word)),
    env: { ...group.env, ...Object.fromEntries(env) },
    files: [...group.files, ...ownFiles(place)],
    ...given({ prepare: preparationOf(place) }),
    ...portsOf(place),
  };
}

/** The rank with the role prefill; -1 if no node has it. */
const prefillRank = ({ nodes, roles }: Pick<DesiredPlacement, 'nodes' | 'roles'>): number =>
  roles?.prefill === undefined ? -1 : nodes.indexOf(roles.prefill);

/** The command line of a rank with its role, with unfilled fields. */
function wordsOf({ placement, runtime, rank }: RankPlace<CommandRuntime>): readonly string[] {
  const { command: ofLeader, follower = ofLeader, roles } = runtime;
  if (rank === prefillRank(placement) && roles?.prefill !== undefined) return roles.prefill;
  return rank === 0 ? ofLeader : follower;
}

/** The command before the rank. Its folder's name has the key of all it depends on: a running mesh keeps its own. */
function preparationOf(place: RankPlace<CommandRuntime>): RankPreparation | undefined {
  const { placement, runtime, node, account } = place;
  if (runtime.prepare === undefined) return undefined;
  const texts = { ...runtime.env, ...placement.env };
  const fill = (values: FieldValues) => (text: string) => joinText(fillFields(text, (field) => [values[field]]));
  const lasting = { ...fieldValues(place, ''), ...Object.fromEntries(fieldsOfStarts.map((field) => [field, ''])) };
  const words = runtime.prepare.map(fill(lasting));
  const { runtimeFolder, modelFolder } = place;
  const about = { placement: placement.name, node, account, texts, words: asJson(words) };
  const key = digestOf({ ...about, runtime: runtimeFolder.path, model: modelFolder.path });
  const values = fieldValues(place, key);
  const [program = [], ...others] = runtime.prepare.map(fill(values));
  return {
    key,
    name: dataName(key),
    argv: [programWord(program), ...others],
    env: Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(values)(text)])),
  };
}

const asJson = (words: readonly Text[]): Json =>
  words.map((word) => word.map((part) => (typeof part === 'string' ? part : { ...part })));

/** The variables from which MLX makes its group, and their files. */
function groupOf(place: RankPlace<CommandRuntime>): Pick<RankCommand, 'env' | 'files'> {
  if (place.runtime.variables === undefined) return { env: {}, files: [] };
  const backend = backendOf(place.placement, place.between);
  return { env: groupEnvironment(place, backend), files: groupFiles(place, backend) };
}

/** The files behind the fields that a command line uses. */
function ownFiles(place: RankPlace<CommandRuntime>): readonly RankFile[] {
  const fields = fieldsOf(place.runtime, place.placement);
  const prepared = preparationOf(place);
  return [
    ...(fields.has('hostfile') ? [hostfileOf(place)] : []),
    ...(prepared === undefined ? [] : [{ kind: 'prepared', name: prepared.name } as const]),
    ...(fields.has('data') && prepared === undefined
      ? [{ kind: 'folder', name: dataName(''), keeps: true } as const]
      : []),
  ];
}

function portsOf({ runtime, rank, port, endpointPort }: RankPlace<CommandRuntime>) {
  const { joinedListening, followersJoin = joinedListening, meeting } = runtime;
  const portIn = (text: string): number => (text === '{endpoint}' ? endpointPort : port);
  const joins = rank === 0 ? joinedListening : followersJoin;
  return {
    joinedPort: joins === 'running' ? 0 : portIn(joins),
    meetPort: rank === 0 && meeting !== undefined ? portIn(meeting) : 0,
  };
}

type FieldValues = Readonly<Record<CommandField, string | NodePath>>;

/** @param key of the preparation; empty if there is none */
function fieldValues(place: RankPlace<CommandRuntime>, key: string): FieldValues {
  const { placement, addresses, rank, port, filesFolder } = place;
  const devices = devicesOf(place);
  return {
    runtime: place.runtimeFolder,
    model: place.modelFolder,
    rank: String(rank),
    size: String(placement.nodes.length),
    address: addresses[rank] ?? '',
    port: String(port),
    peers: addresses.map((address) => `${address}:${port}`).join(','),
    endpoint: String(place.endpointPort),
    generation: String(place.generation),
    context: String(placement.contextTokens),
    sharding: placement.sharding ?? 'none',
    name: placement.name,
    node: place.node,
    leader: addressOf(0, place),
    prefill: addressOf(prefillRank(placement), place),
    device: devices[0] ?? '',
    devices: devices.join(','),
    hostfile: below(filesFolder, hostfileName),
    data: below(filesFolder, dataName(key)),
  };
}

/** This rank's devices towards the other ranks, in rank order, without ranks that it has no cable to. */
const devicesOf = ({ devices, rank }: RankPlace): readonly string[] =>
  (devices[rank] ?? []).flatMap((device) => device ?? []);

/**
 * A rank's address for this rank; for itself, the one on the cable to rank 1, or to the leader. Only the Mac at the
 * other end of a cable can reach an address on it.
 */
function addressOf(to: number, { between, lan, rank, addresses }: RankPlace): string {
  if (addresses.length === 1) return addresses[0] ?? '';
  const own = to === 0 ? 1 : 0;
  return between[to]?.[rank === to ? own : rank] ?? lan[to] ?? '';
}

/** The names that a start must read: ranks without a cable to the leader reach it over the office network. */
function needs(placement: DesiredPlacement, runtime: CommandRuntime) {
  const { nodes, sharding } = placement;
  const fields = fieldsOf(runtime, placement);
  const group = runtime.variables === 'mlx' || fields.has('hostfile') ? groupNeeds(placement) : [];
  const isFar = (fields.has('leader') || fields.has('prefill')) && sharding === 'pipeline' && nodes.length > 3;
  const isDevice = fields.has('device') || fields.has('devices');
  return [...group, ...(isDevice ? (['devices'] as const) : []), ...(isFar ? (['lan'] as const) : [])];
}

/** Each role's program, if it is a path on the node. A path with fields is known only per rank, and left out. */
const programsOutside = ({ command, follower = command, roles }: CommandRuntime): readonly (NodePath | undefined)[] =>
  [command, follower, roles?.prefill ?? command].map(([program = '']) =>
    program.startsWith('/') && !program.includes('{') ? nodePath(`/${program.slice(1)}`) : undefined,
  );

/** The program that every node needs, if it is a path on the node; undefined if the roles have different programs. */
function programOutside(runtime: CommandRuntime): NodePath | undefined {
  const [ofLeader, ...others] = programsOutside(runtime);
  return others.every((one) => one?.path === ofLeader?.path) ? ofLeader : undefined;
}

/** The program's path in the archive, if it is there. */
const programInside = ([program = '']: readonly string[]): readonly string[] =>
  /^\{runtime\}\/([^{}]+)$/.exec(program)?.slice(1) ?? [];

/** A program outside the archive, such as macOS's perl, is an ordinary path on the node. */
function programWord(word: Text): Text {
  const [first, ...rest] = word;
  return typeof first === 'string' && first.startsWith('/') && rest.length === 0
    ? [nodePath(`/${first.slice(1)}`)]
    : word;
}

/** Any program whose command line the file sets: one process per node. */
export const command: RuntimeDriver<CommandRuntime> = {
  id: 'command',
  keys,
  check: (one) => [...inHome(one), ...groupFindings(one)],
  needs,
  tensorShape: (_runtime, { shape }) => shape,
  configure,
  programOutside,
  // Each node builds the venv, so the programs of a Python runtime are not in its archive.
  programs: ({ command, follower = [], roles, python }) =>
    python === undefined ? [...new Set([command, follower, roles?.prefill ?? []].flatMap(programInside))] : [],
  programKey: ({ command, follower, roles }, program) => {
    if (![command, follower ?? []].flatMap(programInside).includes(program) && roles !== undefined)
      return 'roles/prefill';
    if (follower === undefined) return 'command';
    return programInside(command).includes(program) ? 'leader' : 'follower';
  },
  tokenRequest,
  waves,
  goldenCheck: ({ token }) => (token.golden === 'equal' ? 'equal' : 'none'),
  canRestartOne: ({ restart }) => restart === 'node',
  stopOrder: 'leader-first',
  // The log format of an arbitrary program is unknown.
  logPattern: '',
  signatures: macosSignatures,
  observe: () => ({}),
};
