import type { FindingPlace } from '../desired/rules/rule.ts';
import type { SourceRange } from '../diagnostics/diagnostic.ts';

/** The place of one value in a file. */
export interface Entry {
  /** Its key; absent for the root and for the items of a list. */
  readonly key?: Span;
  readonly value: Span;
  /** The source text of a plain or quoted scalar, including its quotes. */
  readonly raw?: string;
  /** True if the file has every character of the value literally, so that a part of the value has a place. */
  readonly isLiteral: boolean;
}

/** The place of every value of a file, by JSON pointer. */
export type SourceMap = ReadonlyMap<string, Entry>;

/** The place of a target, or of the nearest value above it if the target has none. */
export function spanOf(map: SourceMap, target: FindingPlace): Span {
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

/** The parent pointer; undefined for the root. */
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

/** A range of a text in UTF-16 code units from 0, without `end` itself. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The text of one file without a byte order mark, and the offsets of its lines. */
export interface SourceText {
  readonly file: string;
  readonly text: string;
  readonly lineStarts: readonly number[];
}

/** Indexes the lines of a text. Removes a byte order mark, so that columns match those of editors. */
export function sourceText(file: string, raw: string): SourceText {
  const text = raw.startsWith('\ufeff') ? raw.slice(1) : raw;
  const lineStarts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1);
  return { file, text, lineStarts };
}

/** Converts a span to lines and columns, limited to the file. */
export function placeOf(source: SourceText, span: Span, pointer?: string): SourceRange {
  const start = Math.max(0, Math.min(span.start, source.text.length));
  const from = lineAndColumn(source, start);
  const to = lineAndColumn(source, Math.max(start, Math.min(span.end, source.text.length)));
  const place = { file: source.file, ...from, endLine: to.line, endColumn: to.column };
  return pointer === undefined ? place : { ...place, pointer };
}

/** The line and the column of an offset, both from 1. */
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
