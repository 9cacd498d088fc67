import type { DesiredPlacement } from '../../model/desired.ts';
import type { NodePath } from '../../model/probe.ts';
import { joinText, type Text } from '../../model/step.ts';
import { nodePath } from '../../node/paths/node-paths.ts';
import { requestAt } from '../contract/chat-request.ts';
import type {
  FailureSignature,
  PlacementCheck,
  PlacementFinding,
  RankCommand,
  RankPlace,
  RuntimeDriver,
  StartPhase,
  TokenRequest,
} from '../contract/driver.ts';
import { type CommandField, fillFields } from './fields.ts';
import { type CommandRuntime, keys } from './runtime.ts';

/** The smallest request for one token at the path that the file names, with the place of the text that it names. */
const tokenRequest = ({ model }: DesiredPlacement, { token }: CommandRuntime): TokenRequest => ({
  ...requestAt(token.path, model),
  pointer: token.json,
});

const leader: StartPhase = { ranks: 'leader', until: 'joined' };
const followers: StartPhase = { ranks: 'followers', until: 'joined' };

/** In the order that the file says. */
function phases({ order }: CommandRuntime): readonly StartPhase[] {
  switch (order) {
    case 'leader-first':
      return [leader, followers];
    case 'followers-first':
      return [followers, leader];
    case 'together':
      return [{ ranks: 'all', until: 'joined' }];
  }
}

/** What dyld and launchd themselves say, whatever the program. */
export const signatures: readonly FailureSignature[] = [
  {
    id: 'library-not-loaded',
    pattern: /^dyld\[\d+\]: Library not loaded: /,
    meaning: 'The program needs a library that is not on this Mac.',
    action: 'change-file',
    cure: 'Put the library into the archive, or build the program without it.',
  },
  {
    id: 'address-in-use',
    pattern: /[Aa]ddress already in use|EADDRINUSE/,
    meaning: 'Something else listens on its port.',
    action: 'change-file',
    cure: 'End what listens there, or give the placement another port.',
  },
];

/** The account whose home a path lies in, by the name of the folder; undefined outside of /Users. */
const ownerOf = (path: string): string | undefined => /^\/Users\/(?!Shared\/)([^/]+)\//.exec(path)?.[1];

/**
 * A program in the home of another account than that of the ranks.
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

/** The command line of one rank: every field of every word filled in, paths of the node still without their prefix. */
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

/** What each field becomes for one rank. */
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

/** The program, where it is a path on the node. One with fields is known only for a rank. */
function programOutside({ command: [program = ''] }: CommandRuntime): NodePath | undefined {
  return program.startsWith('/') && !program.includes('{') ? nodePath(`/${program.slice(1)}`) : undefined;
}

/** A program outside of the archive, such as the perl that macOS ships, is a path on the node like any other. */
function programWord(word: Text): Text {
  const [first, ...rest] = word;
  return typeof first === 'string' && first.startsWith('/') && rest.length === 0
    ? [nodePath(`/${first.slice(1)}`)]
    : word;
}

/** Any program that the file gives the command line of: one process per node. */
export const command: RuntimeDriver<CommandRuntime> = {
  id: 'command',
  keys,
  check,
  tensorShape: (_runtime, { shape }) => shape,
  configure,
  programOutside,
  programs: ({ command: [program = ''] }) => {
    const path = /^\{runtime\}\/([^{}]+)$/.exec(program)?.[1];
    return path === undefined ? [] : [path];
  },
  programKey: () => 'command',
  needs: () => [],
  tokenRequest,
  phases: (_placement, runtime) => phases(runtime),
  goldenCheck: ({ token }) => (token.golden === 'equal' ? 'equal' : 'none'),
  canRestartOne: ({ restart }) => restart === 'node',
  stopOrder: 'leader-first',
  // What a program prints that nobody knows says nothing to anybody but its user.
  logPattern: '',
  signatures,
  observe: () => ({}),
};
