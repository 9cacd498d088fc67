import type { Text } from '../model/step.ts';

/** Every field that a word of a runtime's command can have, with what it becomes. A list that is closed. */
export const commandFields = {
  runtime: 'folder of the unpacked archive',
  model: 'folder of the model',
  rank: 'number of this rank, from 0',
  size: 'how many ranks there are',
  address: 'address of this rank on the cable from the rank before it; 127.0.0.1 for a single rank',
  port: 'port on which the ranks of this start meet',
  peers: '{address}:{port} of every rank, in rank order, with commas',
  endpoint: 'port of the endpoint',
  generation: 'number of this start',
  context: 'tokens of context',
  sharding: 'tensor, pipeline, or none for a node without it',
  name: 'name of the placement',
  node: 'name of the node',
} as const;

/** A field that exists. */
export type CommandField = keyof typeof commandFields;

/** Whether a word between braces is a field. */
export const isCommandField = (name: string): name is CommandField => Object.hasOwn(commandFields, name);

/** A word in braces, with the characters of the text that it takes: offsets from 0, `end` excluded. */
export interface FieldUse {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Every `{word}` of a text in order, known or not. Other braces, as in JSON, are text.
 *
 * @example fieldsIn('{address}:{port}').map(({ name }) => name) // ['address', 'port']
 */
export const fieldsIn = (text: string): readonly FieldUse[] =>
  [...text.matchAll(/\{([A-Za-z][A-Za-z0-9_-]*)\}/g)].map((match) => ({
    name: match[1] ?? '',
    start: match.index,
    end: match.index + match[0].length,
  }));

/**
 * A text with its fields filled in, once and from left to right: a value that looks like a field stays as it is. What
 * is no field stays too.
 */
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
/** Which keys of `runtimes` and `placements` a driver needs, and which it takes besides those that all have. */
export interface DriverKeys {
  readonly needs: readonly string[];
  readonly takes: readonly string[];
  readonly ofPlacements: readonly string[];
}

/** The keys of each driver, by its name. The list of drivers hands them to what reads the file. */
export type KeysByDriver = Readonly<Record<string, DriverKeys>>;

const driversWith = (keys: KeysByDriver, has: (own: DriverKeys) => boolean): readonly string[] => {
  const own = Object.entries(keys).flatMap(([driver, its]) => (has(its) ? [driver] : []));
  return own.length === 0 ? Object.keys(keys) : own;
};

/** The drivers that take a key of a runtime; all of them for a key that is for all. */
export const driversOfKey = (keys: KeysByDriver, key: string): readonly string[] =>
  driversWith(keys, ({ needs, takes }) => needs.includes(key) || takes.includes(key));

/** The drivers that take a key of a placement; all of them for a key that is for all. */
export const driversOfPlacementKey = (keys: KeysByDriver, key: string): readonly string[] =>
  driversWith(keys, ({ ofPlacements }) => ofPlacements.includes(key));
