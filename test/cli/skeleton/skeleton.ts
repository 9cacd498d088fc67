import { dataAfterAll, phrases, sentences, unordered, unread, unsteady, unsteadyTexts } from './fields.ts';

/** How a verb ended: its exit code and its JSON document, and none where it printed none. */
export interface Recorded {
  readonly exit: number;
  readonly document?: unknown;
}

/** What is left of a document: everything but sentences and what differs from run to run. */
export type Skeleton = string | number | boolean | null | readonly Skeleton[] | { readonly [name: string]: Skeleton };

/** A field by its own name, or with that of the field which holds it. */
const isIn = (names: ReadonlySet<string>, holder: string, name: string): boolean =>
  names.has(name) || names.has(`${holder}.${name}`);

/** Whether a field holds one value or texts; names of nodes and facts may be those of the tables, and hold more. */
const isPlain = (value: unknown): boolean =>
  Array.isArray(value) ? value.every((one) => typeof one === 'string') : typeof value !== 'object';

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
  if (typeof value !== 'object') throw new Error(`a document holds no ${typeof value}`);
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => compare(one, other))
      .flatMap(([key, held]) => field(name, key, held)),
  );
}

/** Data alone of how a verb ended, with the fields of each object in alphabetical order. */
export const skeleton = ({ exit, document }: Recorded): Skeleton =>
  document === undefined ? { exit } : { exit, document: strip(document, '') };
