import type { SourceRange } from '../diagnostics/diagnostic.ts';

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
  /** Absent: the value. */
  readonly at?: 'key' | 'value';
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

/** The pointer above, or undefined for the root. */
function parentPointer(pointer: string): string | undefined {
  const slash = pointer.lastIndexOf('/');
  return slash === -1 ? undefined : pointer.slice(0, slash);
}

/** The last part of a pointer as the key it stands for. */
export const lastKey = (pointer: string): string =>
  pointer
    .slice(pointer.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');

/** `thunderbolt.links[2]`: a pointer as people write it; `the file` for the root. */
export function pointerText(pointer: string): string {
  if (pointer === '') return 'the file';
  const parts = pointer
    .slice(1)
    .split('/')
    .map((part) => lastKey(`/${part}`));
  return parts.map((part, index) => (/^[0-9]+$/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}

/** A stretch of a text, UTF-16 code units from 0; `end` is not part of it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** One file as it is read: without a byte order mark, with the starts of its lines. */
export interface SourceText {
  readonly file: string;
  readonly text: string;
  readonly lineStarts: readonly number[];
}

/** Prepares a text for questions about places in it. A byte order mark is taken off, so columns count as editors do. */
export function sourceText(file: string, raw: string): SourceText {
  const text = raw.startsWith('\ufeff') ? raw.slice(1) : raw;
  const lineStarts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1);
  return { file, text, lineStarts };
}

/** The place of a span as lines and columns. It always lies inside the file. */
export function placeOf(source: SourceText, span: Span, pointer?: string): SourceRange {
  const start = Math.max(0, Math.min(span.start, source.text.length));
  const from = lineAndColumn(source, start);
  const to = lineAndColumn(source, Math.max(start, Math.min(span.end, source.text.length)));
  const place = { file: source.file, ...from, endLine: to.line, endColumn: to.column };
  return pointer === undefined ? place : { ...place, pointer };
}

/** The line and the column of a character, both from 1. */
export function lineAndColumn(source: SourceText, offset: number): { readonly line: number; readonly column: number } {
  let low = 0;
  let high = source.lineStarts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((source.lineStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - (source.lineStarts[low] ?? 0) + 1 };
}
