import { columnsOf, wrap } from '../diagnostics/cells.ts';
import type { Reader } from '../diagnostics/prose-text.ts';

/** `1 node`, `4 nodes`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The first line of a report: which rack, what about it (`4 nodes, 6 links`), and at the right edge whether it is simulated. */
export function headLines(name: string, about: string, page: Page): readonly string[] {
  const { isSimulated } = page;
  const painted = `${page.paint('strong', name)}   ${about}`;
  const mark = isSimulated ? 'simulated' : '';
  const room = page.columns - columnsOf(`${name}   ${about}`) - mark.length;
  if (room >= 3) return [`${painted}${' '.repeat(isSimulated ? room : 0)}${mark}`];
  return [name, about, ...(isSimulated ? [mark] : [])].flatMap((line) => fitLines(line, page.columns));
}

/** Where a piece of these characters ends when it may begin with no colon: before the last that is none. */
function cutBeforeColon(piece: readonly string[]): number {
  const last = piece.findLastIndex((character) => character !== ':');
  return last > 0 ? last : piece.length;
}

/**
 * A word that is wider than the page (an address, an endless name) is cut into pieces, so that no line breaks the
 * layout. No piece begins with a colon, since GitHub's runner would obey a line that begins with `::name::`: the
 * character before it comes along, and only where there is none the colon is escaped.
 */
function cutWord(word: string, columns: number): readonly string[] {
  const pieces: string[] = [];
  let piece: readonly string[] = [];
  for (const character of word) {
    if (piece.length === 0 || columnsOf([...piece, character].join('')) <= columns) {
      piece = [...piece, character];
      continue;
    }
    const end = character === ':' ? cutBeforeColon(piece) : piece.length;
    const rest = [...piece.slice(end), character];
    pieces.push(piece.slice(0, end).join(''));
    piece = rest[0] === ':' ? ['\\u{3a}', ...rest.slice(1)] : rest;
  }
  return [...pieces, piece.join('')];
}

/** Lines of at most this many columns, broken at blanks where there are any. */
export const fitLines = (text: string, columns: number): readonly string[] =>
  wrap(text, Math.max(1, columns)).flatMap((line) => cutWord(line, Math.max(1, columns)));

/** A path, perhaps in quotes or brackets and with a mark behind it, of a length that paths have. */
const wholePath = /^[("'`]?~?\/[\w./@:+%,=~-]{1,200}[)"'`;]{0,2}[.,;]?$/;

/** As {@link fitLines}, but a path has a line of its own, in one piece for copying, even if that is too wide. */
const keepPaths = (text: string, columns: number): readonly string[] =>
  wrap(text, Math.max(1, columns)).flatMap((line) =>
    wholePath.test(line) ? [line] : cutWord(line, Math.max(1, columns)),
  );

/** A paragraph behind `first`; its later lines stand under its text. */
export function hang(first: string, text: string, columns: number): readonly string[] {
  const width = columnsOf(first);
  const [top = '', ...rest] = keepPaths(text, columns - width);
  return [`${first}${top}`.trimEnd(), ...rest.map((line) => `${' '.repeat(width)}${line}`)];
}

/** Text with blanks behind it up to this width. */
export const padEnd = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - columnsOf(text)));

/** Text cut to this width; what was cut shows as `...`. */
export function clip(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  const [piece = ''] = cutWord(text, Math.max(1, columns - 3));
  return `${piece}...`;
}

/** Short texts side by side, read downwards, as many columns of them as fit. */
export function sideBySide(texts: readonly string[], columns: number): readonly string[] {
  const gap = 4;
  const width = Math.max(1, ...texts.map(columnsOf));
  const perLine = Math.max(1, Math.floor((columns + gap) / (width + gap)));
  const lineCount = Math.ceil(texts.length / perLine);
  return Array.from({ length: lineCount }, (_, line) => {
    const cells = texts.filter((_text, index) => index % lineCount === line);
    return cells
      .map((cell) => padEnd(cell, width))
      .join(' '.repeat(gap))
      .trimEnd();
  });
}

/** Pieces that stay whole, as many on a line as fit. */
export function flow(pieces: readonly string[], gap: string, columns: number): readonly string[] {
  const lines: string[] = [];
  for (const piece of pieces) {
    const last = lines.at(-1);
    const joined = `${last}${gap}${piece}`;
    if (last !== undefined && columnsOf(joined) <= columns) {
      lines[lines.length - 1] = joined;
    } else {
      lines.push(piece);
    }
  }
  return lines.flatMap((line) => fitLines(line, columns));
}

/** How a piece of text is meant. Colour only repeats what the words and marks already say. */
export type Tone = 'good' | 'bad' | 'warn' | 'dim' | 'strong';

/** Sets text off for a terminal, or leaves it as it is. */
export type Paint = (tone: Tone, text: string) => string;

/** Leaves every text as it is. */
export const plainPaint: Paint = (_tone, text) => text;

/** What a text is laid out on, and for whom. */
export interface Page extends Reader {
  /** At least 20. */
  readonly columns: number;
  readonly unicode: boolean;
  readonly paint: Paint;
}

/** Whether what stands beside each other elsewhere has lines of its own. */
export const isNarrow = ({ columns }: Pick<Page, 'columns'>): boolean => columns < 60;

const usualColumns = 80;
const fewestColumns = 20;

/** The width to lay out for: 80 for anything that is no width, never below 20. */
const pageColumns = (columns: number): number =>
  Number.isFinite(columns) && columns >= 1 ? Math.max(fewestColumns, Math.floor(columns)) : usualColumns;

/** What a page is made from. */
export interface PageInput extends Reader {
  /** 80 when it is 0, NaN or endless. */
  readonly columns: number;
  readonly unicode: boolean;
  /** Leaves text as it is unless given. */
  readonly paint?: Paint;
}

/** The page of an answer. */
export const pageOf = ({ columns, unicode, paint = plainPaint, isSimulated }: PageInput): Page => ({
  columns: pageColumns(columns),
  unicode,
  paint,
  isSimulated,
});

/** Blocks of lines as one text, a blank line between them; an empty block leaves nothing. */
export const pageText = (blocks: readonly (readonly string[])[]): string =>
  `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
