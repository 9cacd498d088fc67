import type { DesiredPlacement } from '../../model/desired.ts';
import { joinText } from '../../model/lists.ts';
import type { NodePath } from '../../model/probe.ts';
import type { Text } from '../../model/step.ts';
import { nodePath } from '../../node/paths/node-paths.ts';
import { requestAt } from '../contract/chat-request.ts';
import {
  followersFirst,
  leaderFirst,
  type PlacementCheck,
  type PlacementFinding,
  type RankCommand,
  type RankPlace,
  type RuntimeDriver,
  type TokenRequest,
  together,
} from '../contract/driver.ts';
import { signaturesOf } from '../contract/signatures.ts';
import { type CommandField, fillFields } from './fields.ts';
import { type CommandRuntime, keys } from './runtime.ts';

/** The smallest request that yields one token. The cluster file sets its path and the JSON pointer to the token. */
const tokenRequest = ({ model }: DesiredPlacement, { token }: CommandRuntime): TokenRequest => ({
  ...requestAt(token.path, model),
  pointer: token.json,
});

const wavesByOrder = { 'leader-first': leaderFirst, 'followers-first': followersFirst, together } as const;

/** Messages of dyld and the network stack, which any program can log. */
export const signatures = signaturesOf({
  'library-not-loaded': {
    pattern: /^dyld\[\d+\]: Library not loaded: /,
    meaning: 'The program needs a library that is not on this Mac.',
    action: 'change-file',
    cure: 'Add the library to the archive, or build the program without it.',
  },
  'address-in-use': {
    pattern: /[Aa]ddress already in use|EADDRINUSE/,
    meaning: "Another program listens on this rank's port.",
    action: 'change-file',
    cure: 'Stop that program, or give the placement a different port.',
  },
});

/** The account whose home contains a path, by the folder's name; undefined outside /Users. */
const ownerOf = (path: string): string | undefined => /^\/Users\/(?!Shared\/)([^/]+)\//.exec(path)?.[1];

/**
 * Warns if the program is in the home of an account other than the ranks' account.
 *
 * @see docs/unverified.md: the mode of a home, and who may enter it
 */
function check({ placement, runtime, fleet }: PlacementCheck<CommandRuntime>): readonly PlacementFinding[] {
  const { ranks } = fleet.system.accounts;
  const path = programOutside(runtime)?.path;
  const owner = path === undefined ? undefined : ownerOf(path);
  if (ranks === undefined || owner === undefined || owner === ranks) return [];
  const detail = `The ranks of ${placement.name} run as ${ranks}, and ${path} is in the home of ${owner}.`;
  return [{ code: 'placement/program-in-home', severity: 'warning', detail }];
}

/** The command line of one rank with all fields filled in. Node paths still lack their root prefix. */
function configure(place: RankPlace<CommandRuntime>): RankCommand {
  const { placement, runtime, port, endpointPort } = place;
  const values = fieldValues(place);
  const words = runtime.command.map((word) => joinText(fillFields(word, (field) => [values[field]])));
  return {
    argv: words.map((word, index) => (index === 0 ? programWord(word) : word)),
    env: placement.env,
    files: [],
    joinedPort: runtime.joinedListening === '{endpoint}' ? endpointPort : port,
    meetPort: 0,
  };
}

function fieldValues(place: RankPlace<CommandRuntime>): Readonly<Record<CommandField, string | NodePath>> {
  const { placement, addresses, rank, port } = place;
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
  };
}

/** The program, if it is a path on the node. Undefined for a path with fields, which is known only per rank. */
function programOutside({ command: [program = ''] }: CommandRuntime): NodePath | undefined {
  return program.startsWith('/') && !program.includes('{') ? nodePath(`/${program.slice(1)}`) : undefined;
}

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
  check,
  tensorShape: (_runtime, { shape }) => shape,
  configure,
  programOutside,
  programs: ({ command: [program = ''] }) => /^\{runtime\}\/([^{}]+)$/.exec(program)?.slice(1) ?? [],
  programKey: () => 'command',
  tokenRequest,
  waves: (_placement, { order }) => wavesByOrder[order],
  goldenCheck: ({ token }) => (token.golden === 'equal' ? 'equal' : 'none'),
  canRestartOne: ({ restart }) => restart === 'node',
  stopOrder: 'leader-first',
  // The log format of an arbitrary program is unknown.
  logPattern: '',
  signatures,
  observe: () => ({}),
};
