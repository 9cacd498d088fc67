import { type Cell, cellsOf, columnsOf, wrap } from './cells.ts';
import type { Diagnostic, SourceRange } from './diagnostic.ts';
import { escapeText } from './escape.ts';
import type { Paint, Style } from './paint.ts';

/** What the source excerpt of a diagnostic is drawn with. */
export interface Excerpt {
  readonly lines: readonly string[];
  readonly columns: number;
  readonly paint: Paint;
  readonly style: Style;
}

/** The source lines of a diagnostic with their numbers, and its place underlined; empty when the place is not there. */
export function drawExcerpt(one: Diagnostic, excerpt: Excerpt): readonly string[] {
  const { where } = one;
  if (where === undefined || excerpt.lines[where.line - 1] === undefined) return [];
  const numbers = linesToShow(one, where, excerpt.lines.length);
  const gutter = Math.max(4, ...numbers.map((line) => String(line).length + 2));
  const room = Math.max(20, excerpt.columns - gutter - 3);
  const drawn: string[] = [];
  let previous: number | undefined;
  for (const line of numbers) {
    if (previous !== undefined && line > previous + 1) drawn.push(`${' '.repeat(gutter - 1)}...`);
    previous = line;
    const cells = cellsOf(excerpt.lines[line - 1] ?? '');
    const own = line === where.line;
    const window = windowOf(cells, own ? where.column - 1 : 0, room);
    const head = excerpt.paint('dim', `${String(line).padStart(gutter)} |`);
    drawn.push(`${head} ${window.text}`.trimEnd());
    if (own) drawn.push(...underline(one.label, { where, cells, window, room, gutter }, excerpt));
  }
  return drawn;
}

function linesToShow(one: Diagnostic, where: SourceRange, lineCount: number): readonly number[] {
  const others = one.related
    .flatMap((other) => (other.where?.file === where.file ? [other.where.line] : []))
    .filter((line) => line >= 1 && line <= lineCount);
  return [...new Set([...others.slice(0, 3), where.line])].sort((a, b) => a - b);
}

interface Window {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly lead: number;
}

/** The part of a line that fits into the room, around the wanted offset. */
function windowOf(cells: readonly Cell[], offset: number, room: number): Window {
  const last = cells.at(-1);
  const total = last === undefined ? 0 : last.column + last.columns;
  if (total <= room) return { text: cells.map((cell) => cell.shown).join(''), from: 0, to: total, lead: 0 };
  const wanted = cells.find((cell) => cell.offset >= offset)?.column ?? total;
  const from = Math.max(0, Math.min(wanted - Math.floor(room / 4), total - room));
  const lead = from > 0 ? 3 : 0;
  const shown = cells.filter((cell) => cell.column >= from + lead && cell.column + cell.columns <= from + room - 3);
  const first = shown[0]?.column ?? from + lead;
  const end = shown.at(-1);
  const text = `${lead > 0 ? '...' : ''}${shown.map((cell) => cell.shown).join('')}...`;
  return { text, from: first, to: end === undefined ? first : end.column + end.columns, lead };
}

interface Placed {
  readonly where: SourceRange;
  readonly cells: readonly Cell[];
  readonly window: Window;
  readonly room: number;
  readonly gutter: number;
}

function underline(label: string | undefined, placed: Placed, excerpt: Excerpt): readonly string[] {
  const { where, cells, window, gutter } = placed;
  const last = cells.at(-1);
  const total = last === undefined ? 0 : last.column + last.columns;
  const columnAt = (offset: number): number => cells.find((cell) => cell.offset >= offset)?.column ?? total;
  const start = clamp(columnAt(where.column - 1), window);
  const end = where.endLine > where.line ? window.to : clamp(columnAt(where.endColumn - 1), window);
  const carets = '^'.repeat(Math.max(1, end - start));
  const indent = ' '.repeat(start - window.from + window.lead);
  const head = `${' '.repeat(gutter)} | `;
  const words = label === undefined ? '' : escapeText(label);
  const marked = `${head}${indent}${excerpt.paint(excerpt.style, carets)}`;
  if (words === '') return [marked];
  const fits = columnsOf(indent) + carets.length + 1 + columnsOf(words) <= placed.room;
  if (fits) return [`${marked} ${excerpt.paint(excerpt.style, words)}`];
  const below = wrap(words, placed.room).map((line) => `${head}${excerpt.paint(excerpt.style, line)}`);
  return [marked, ...below];
}

const clamp = (column: number, window: Window): number => Math.max(window.from, Math.min(column, window.to));
