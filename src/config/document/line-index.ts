import type { SourceRange } from '../../diagnostics/diagnostic.ts';

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
