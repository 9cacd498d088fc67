import { everyNodeText } from '../model/node.ts';
import { type Subject, subjectText } from '../model/subject.ts';
import { type Cell, cellsOf, columnsOf, firmSpace, wrap } from './cells.ts';
import type { Severity } from './code-entry.ts';
import { type Diagnostic, hasTrait, type SourceRange } from './diagnostic.ts';
import { escapeText } from './escape.ts';
import { hideSecrets } from './hide-secrets.ts';
import { proseText, type Reader } from './prose-text.ts';

/** Options for rendering diagnostics as text. */
export interface RenderOptions extends Reader {
  /** Texts of the files that diagnostics can refer to, by the file name in `where`. */
  readonly sources: ReadonlyMap<string, string>;
  /** Page width in characters; smaller values count as 40. */
  readonly columns: number;
  readonly color: boolean;
}

/**
 * Renders diagnostics for people: position, severity and code; summary, unless the detail includes it; source line with
 * the position underlined; detail; and hint. Everything is escaped. Ends with a line break; empty without diagnostics.
 */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], options: RenderOptions): string {
  const paint = paintWith(options.color);
  const { isSimulated } = options;
  const linesByFile = new Map<string, readonly string[]>();
  const linesOf = (file: string): readonly string[] => {
    const lines = linesByFile.get(file) ?? sourceLines(options.sources.get(file));
    linesByFile.set(file, lines);
    return lines;
  };
  const blocks = diagnostics.map((one) =>
    renderOne(one, { linesOf, columns: Math.max(40, options.columns), paint, isSimulated }),
  );
  return blocks.length === 0 ? '' : `${blocks.join('\n\n')}\n`;
}

/** A code's anchor in `docs/errors.md`. */
export const docsAnchor = (code: Diagnostic['code']): string => `docs/errors.md#${code.replace('/', '-')}`;

interface Page extends Reader {
  readonly linesOf: (file: string) => readonly string[];
  readonly columns: number;
  readonly paint: Paint;
}

function renderOne(one: Diagnostic, page: Page): string {
  return [
    headline(one, page.paint),
    ...(hasTrait(one, 'whole-detail') ? [] : indented(one.summary, '  ', page.columns)),
    ...drawExcerpt(one, page),
    ...indented(proseText(one.detail, page, firmSpace), '  ', page.columns),
    ...indented(proseText(one.hint, page, firmSpace), '  hint: ', page.columns),
  ].join('\n');
}

const shownSubject = (subject: Subject): string =>
  subject.kind === 'node' && subject.names.length > 1 ? `nodes ${everyNodeText(subject.names)}` : subjectText(subject);

function headline(one: Diagnostic, paint: Paint): string {
  const { where, subject } = one;
  const place = where === undefined ? subject && shownSubject(subject) : `${where.file}:${where.line}:${where.column}`;
  const words = [paint(severityStyle[one.severity], one.severity), one.code];
  return place === undefined ? words.join('  ') : [paint('bold', escapeText(place)), ...words].join('  ');
}

/** Indents paragraphs; continuation lines align with the text, not with the label before it. */
function indented(text: string, first: string, columns: number): readonly string[] {
  const rest = ' '.repeat(first.length);
  return text
    .split('\n')
    .flatMap((line) => wrap(escapeText(line), columns - first.length))
    .map((line, index) => `${index === 0 ? first : rest}${line}`.trimEnd());
}

function sourceLines(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  return hideSecrets(text.replace(/^\ufeff/, '').split(/\r?\n/)).lines;
}

/** Draws numbered source lines with the diagnostic's position underlined; empty if the source lacks the position. */
function drawExcerpt(one: Diagnostic, page: Page): readonly string[] {
  const { where } = one;
  const lines = where === undefined ? [] : page.linesOf(where.file);
  if (where === undefined || lines[where.line - 1] === undefined) return [];
  const numbers = linesToShow(one, where, lines.length);
  const gutter = Math.max(4, ...numbers.map((line) => String(line).length + 2));
  const room = Math.max(20, page.columns - gutter - 3);
  const drawn: string[] = [];
  let previous: number | undefined;
  for (const line of numbers) {
    if (previous !== undefined && line > previous + 1) drawn.push(`${' '.repeat(gutter - 1)}...`);
    previous = line;
    const cells = cellsOf(lines[line - 1] ?? '');
    const own = line === where.line;
    const window = windowOf(cells, own ? where.column - 1 : 0, room);
    const head = page.paint('dim', `${String(line).padStart(gutter)} |`);
    drawn.push(`${head} ${window.text}`.trimEnd());
    if (own) drawn.push(...underline(one, { where, cells, window, room, gutter }, page.paint));
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

/** Returns the part of a line around the given offset that fits into `room` columns. */
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

function underline({ severity, label = '' }: Diagnostic, placed: Placed, paint: Paint): readonly string[] {
  const { where, cells, window, gutter } = placed;
  const last = cells.at(-1);
  const total = last === undefined ? 0 : last.column + last.columns;
  const columnAt = (offset: number): number => cells.find((cell) => cell.offset >= offset)?.column ?? total;
  const start = clamp(columnAt(where.column - 1), window);
  const end = where.endLine > where.line ? window.to : clamp(columnAt(where.endColumn - 1), window);
  const carets = '^'.repeat(Math.max(1, end - start));
  const indent = ' '.repeat(start - window.from + window.lead);
  const head = `${' '.repeat(gutter)} | `;
  const words = escapeText(label);
  const style = severityStyle[severity];
  const marked = `${head}${indent}${paint(style, carets)}`;
  if (words === '') return [marked];
  const fits = columnsOf(indent) + carets.length + 1 + columnsOf(words) <= placed.room;
  if (fits) return [`${marked} ${paint(style, words)}`];
  const below = wrap(words, placed.room).map((line) => `${head}${paint(style, line)}`);
  return [marked, ...below];
}

const clamp = (column: number, window: Window): number => Math.max(window.from, Math.min(column, window.to));

const reset = '\u001b[0m';
const styles = { bold: '\u001b[1m', dim: '\u001b[2m', red: '\u001b[31m', yellow: '\u001b[33m', cyan: '\u001b[36m' };

/** A text style; meaning never depends only on style. */
type Style = keyof typeof styles;

type Paint = (style: Style, text: string) => string;

const paintWith = (color: boolean): Paint =>
  color ? (style, text) => `${styles[style]}${text}${reset}` : (_style, text) => text;

const severityStyle: Readonly<Record<Severity, Style>> = { error: 'red', warning: 'yellow', notice: 'cyan' };
