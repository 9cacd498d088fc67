import type { FindingPlace } from '../desired/rules/rule.ts';
import type { SourceRange } from '../diagnostics/diagnostic.ts';

/** One value's position in a file. */
export interface Entry {
  /** The key's span; absent for the root and for list items. */
  readonly key?: Span;
  readonly value: Span;
  /** Source text of a plain or quoted scalar, including its quotes. */
  readonly raw?: string;
  /** True if every character of the value is literally in the file, so that parts of the value have positions. */
  readonly isLiteral: boolean;
}

export type SourceMap = ReadonlyMap<string, Entry>;

/** Finds a target's span; if it has none, the span of the nearest value above. */
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

/** Returns the parent pointer; undefined for the root. */
function parentPointer(pointer: string): string | undefined {
  const slash = pointer.lastIndexOf('/');
  return slash === -1 ? undefined : pointer.slice(0, slash);
}

/** Decodes the last part of a pointer to its key. */
export const lastKey = (pointer: string): string =>
  pointer
    .slice(pointer.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');

/** The value at a pointer in a document; undefined if there is none. */
export function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const part of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, lastKey(`/${part}`));
  }
  return value;
}

/** Formats a pointer for people: `thunderbolt.links[2]`; `the file` for the root. */
export function pointerText(pointer: string): string {
  if (pointer === '') return 'the file';
  const parts = pointer
    .slice(1)
    .split('/')
    .map((part) => lastKey(`/${part}`));
  return parts.map((part, index) => (/^[0-9]+$/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}

/** A range in a text, in UTF-16 code units from 0; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** One file's text without a byte order mark, and its line offsets. */
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

/** Returns an offset's line and column, both from 1. */
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

/** The offset of a place, at most the end of its line. */
export function offsetOf({ lineStarts, text }: SourceText, line: number, column: number): number {
  const next = lineStarts[line + 1];
  return Math.min((lineStarts[line] ?? 0) + column, next === undefined ? text.length : next - 1);
}

/** The code of a line, counted from 0, without its comment. */
export function spanOfLine(source: SourceText, line: number): Span {
  const text = source.text.split('\n')[line] ?? '';
  const comment = text.search(/(?<!\S)#/);
  const code = (comment === -1 ? text : text.slice(0, comment)).trimEnd();
  const start = offsetOf(source, line, text.length - text.trimStart().length);
  return { start, end: Math.max(start + 1, offsetOf(source, line, code.length)) };
}
