import { type CommandField, fillFields } from '../../desired/drivers/command-fields.ts';
import type { CommandRuntime } from '../../model/desired.ts';
import type { NodePath } from '../../model/node-path.ts';
import type { Text } from '../../model/step.ts';
import { nodePath } from '../../node/paths/node-paths.ts';
import type { RankCommand, RankPlace } from '../contract/driver.ts';
import { joinText } from '../contract/text.ts';

/** The command line of one rank: every field of every word filled in, paths of the node still without their prefix. */
export function configure(place: RankPlace<CommandRuntime>): RankCommand {
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
export function programOutside({ command: [program = ''] }: CommandRuntime): NodePath | undefined {
  return program.startsWith('/') && !program.includes('{') ? nodePath(`/${program.slice(1)}`) : undefined;
}

/** A program outside of the archive, such as the perl that macOS ships, is a path on the node like any other. */
function programWord(word: Text): Text {
  const [first, ...rest] = word;
  return typeof first === 'string' && first.startsWith('/') && rest.length === 0
    ? [nodePath(`/${first.slice(1)}`)]
    : word;
}
