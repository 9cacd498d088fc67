import { dataAfterAll, phrases, sentences, unordered, unread, unsteady, unsteadyTexts } from './fields.ts';

/** The exit code of a command, and its JSON document if it printed one. */
export interface Recorded {
  readonly exit: number;
  readonly document?: unknown;
}

/** A document without sentences and without values that differ from run to run. */
type Skeleton = string | number | boolean | null | readonly Skeleton[] | { readonly [name: string]: Skeleton };

/** True if the names include a field, either by its name alone or together with its parent's name. */
const isIn = (names: ReadonlySet<string>, holder: string, name: string): boolean =>
  names.has(name) || names.has(`${holder}.${name}`);

/** True if a field has single values. A node or fact whose name is in a table has more. */
const isPlain = (value: unknown): boolean =>
  Array.isArray(value) ? value.every((one) => typeof one !== 'object') : typeof value !== 'object';

const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

const sorted = (list: readonly Skeleton[]): readonly Skeleton[] =>
  list.toSorted((one, other) => compare(JSON.stringify(one), JSON.stringify(other)));

function field(holder: string, name: string, value: unknown): readonly (readonly [string, Skeleton])[] {
  if (isIn(unread, holder, name)) return [];
  if (isPlain(value) && typeof value !== 'boolean' && !isIn(dataAfterAll, holder, name)) {
    if (isIn(unsteady, holder, name)) return [];
    if (isIn(sentences, holder, name)) return Array.isArray(value) ? [[name, value.length]] : [];
  }
  if (typeof value === 'string' && value.includes(' ') && isIn(phrases, holder, name)) return [];
  const kept = strip(value, name);
  return [[name, Array.isArray(kept) && isIn(unordered, holder, name) ? sorted(kept) : kept]];
}

function strip(value: unknown, name: string): Skeleton {
  if (typeof value === 'string') return unsteadyTexts.reduce((text, [found, by]) => text.replace(found, by), value);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => strip(one, name));
  if (typeof value !== 'object') throw new Error(`a document cannot contain a ${typeof value}`);
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => compare(one, other))
      .flatMap(([key, held]) => field(name, key, held)),
  );
}

/** The data of a result, with the fields of each object in alphabetical order. */
export const skeleton = ({ exit, document }: Recorded): { readonly exit: number; readonly document?: Skeleton } =>
  document === undefined ? { exit } : { exit, document: strip(document, '') };
