import type { Span } from './line-index.ts';
import { parentPointer } from './pointer.ts';

/** Where one value of a file stands. */
export interface Entry {
  /** Its key; absent for the root and for the items of a list. */
  readonly key?: Span;
  readonly value: Span;
  /** The text of a plain or quoted scalar as the file has it, quotes included. */
  readonly raw?: string;
  /** True when every character of the value stands in the file as it is, so that a part of it has a place. */
  readonly isLiteral: boolean;
}

/** From JSON pointer to place, for every value of a file. */
export type SourceMap = ReadonlyMap<string, Entry>;

/** What of a value is meant: its key, the value, or some characters of the value. */
export interface Target {
  readonly pointer: string;
  readonly at: 'key' | 'value';
  readonly part?: Span;
}

/** The place of a target; of the nearest value above it when the pointer itself has none. */
export function spanOf(map: SourceMap, target: Target): Span {
  const entry = map.get(target.pointer);
  if (entry === undefined) {
    const parent = parentPointer(target.pointer);
    return parent === undefined ? { start: 0, end: 0 } : spanOf(map, { pointer: parent, at: 'key' });
  }
  if (target.at === 'key' || isEmpty(entry.value)) return entry.key ?? firstOf(entry.value);
  if (target.part === undefined || !entry.isLiteral) return entry.value;
  const quote = entry.raw !== undefined && /^["']/.test(entry.raw) ? 1 : 0;
  const start = entry.value.start + quote;
  return { start: start + target.part.start, end: start + target.part.end };
}

const isEmpty = (span: Span): boolean => span.end <= span.start;
const firstOf = (span: Span): Span => ({ start: span.start, end: Math.min(span.end, span.start + 1) });
