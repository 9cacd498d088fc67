import type { Text } from '../../model/step.ts';

/** Every field that a runtime's command and environment can use, with a description of its value. */
export const commandFields = {
  runtime: 'folder of the unpacked archive',
  model: 'folder of the model',
  rank: 'number of this rank, from 0',
  size: 'number of ranks',
  address: 'address of this rank on the cable from the previous rank; 127.0.0.1 for a single rank',
  port: 'port where the ranks of this start meet',
  peers: '{address}:{port} of every rank, in rank order, separated by commas',
  endpoint: 'port of the endpoint',
  generation: 'number of this start',
  context: 'context length in tokens',
  sharding: '`tensor` or `pipeline`; `none` without sharding',
  name: 'name of the placement',
  node: 'name of the node',
  leader:
    "address at which this rank reaches the leader: the leader's own on the cable to this rank (on the leader, the cable to rank 1), its office network address without such a cable, 127.0.0.1 for a single rank",
  prefill: 'address at which this rank reaches the rank with the role prefill, in the same way as {leader}',
  device: 'RDMA device of the cable to the other rank, for exactly two ranks over RDMA',
  devices: 'RDMA devices of the cables to every other rank over RDMA, in rank order, separated by commas',
  hostfile: "path of a JSON file on the node that lists every rank, in the form of MLX's hostfile",
  data: 'folder on the node that belongs to the account of the ranks and is kept between starts; with `prepare`, one for each version of it',
} as const;

/** Fields whose values can change from start to start, so that a command that runs once cannot use them. */
export const fieldsOfStarts: readonly string[] = 'port peers leader prefill generation device devices hostfile'.split(
  ' ',
);

export type CommandField = keyof typeof commandFields;

export const isCommandField = (name: string): name is CommandField => Object.hasOwn(commandFields, name);

/**
 * Every `{name}` in a text, known or not, in order; each extends from `start` up to but excluding `end`. Other braces,
 * for example in JSON, are plain text.
 *
 * @example fieldsIn('{address}:{port}').map(({ name }) => name) // ['address', 'port']
 */
export const fieldsIn = (text: string) =>
  [...text.matchAll(/\{([A-Za-z][A-Za-z0-9_-]*)\}/g)].map((match) => ({
    name: match[1] ?? '',
    start: match.index,
    end: match.index + match[0].length,
  }));

/** Fills in the fields once, from left to right, without fields in values. Unknown fields are left unchanged. */
export function fillFields(text: string, textFor: (field: CommandField) => Text): Text {
  const filled: Text[number][] = [];
  let at = 0;
  for (const { name, start, end } of fieldsIn(text)) {
    if (!isCommandField(name)) continue;
    filled.push(text.slice(at, start), ...textFor(name));
    at = end;
  }
  return [...filled, text.slice(at)].filter((part) => part !== '');
}

/** The command lines and the environment of ranks, with unfilled `{field}`s. */
export interface FieldTexts {
  /** The command line of one rank; the leader's if the followers have their own. */
  readonly command: readonly string[];
  /** The followers' command line, if it differs from the leader's. */
  readonly follower?: readonly string[];
  /** The command lines of ranks with a role. */
  readonly roles?: { readonly prefill?: readonly string[] };
  /** Environment of every rank; a placement's `env` takes precedence. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The fields of a placement's ranks, in the command lines and the environment. */
export const fieldsOf = (
  { command, follower = [], roles, env }: FieldTexts,
  placement: Pick<FieldTexts, 'env'>,
): ReadonlySet<string> =>
  new Set(
    [...command, ...follower, ...(roles?.prefill ?? []), ...Object.values({ ...env, ...placement.env })].flatMap(
      (text) => fieldsIn(text).map(({ name }) => name),
    ),
  );
