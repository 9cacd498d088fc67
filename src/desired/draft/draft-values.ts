/** A scalar of the file with its place. */
export interface DraftText {
  readonly pointer: string;
  /** The value, or for a number the text as the file writes it. */
  readonly text: string;
  readonly isText: boolean;
}

/** The text of a scalar as the file writes it, by JSON pointer. */
export type RawText = (pointer: string) => string | undefined;

/** An object with one key, or without any when there is no value for it. */
export function optional<K extends string, T>(key: K, value: T | undefined): { readonly [P in K]?: T } {
  const made: { [P in K]?: T } = {};
  if (value !== undefined) made[key] = value;
  return made;
}

/** A value as a map; an empty one for anything else. */
export const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** A value as a list; an empty one for anything else. */
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The value of a key of its own that a map has; undefined for anything else. */
export function member(value: unknown, key: string): unknown {
  const map = record(value);
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** A text or a number with its place; undefined for anything else. */
export function textOf(value: unknown, pointer: string, raw: RawText): DraftText | undefined {
  if (typeof value === 'string') return { pointer, text: value, isText: true };
  return typeof value === 'number' ? { pointer, text: raw(pointer) ?? String(value), isText: false } : undefined;
}

/** The JSON pointer of a key below another pointer (RFC 6901). */
export const pointerTo = (parent: string, key: string): string =>
  `${parent}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
