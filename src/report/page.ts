import { columnsOf, wrap } from '../diagnostics/cells.ts';
import type { Reader } from '../diagnostics/prose-text.ts';

/** `1 node`, `4 nodes`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** A report's first line: the rack, a summary (`4 nodes, 6 links`), and `simulated` at the right edge if applicable. */
export const headLines = (name: string, about: string, page: Page): readonly string[] =>
  titleLines([name, about], page.isSimulated ? 'simulated' : '', page);

/** A title, text next to it, and a remark at the right edge; below each other if there is no room. */
export function titleLines([title, about]: readonly [string, string?], remark: string, page: Page): readonly string[] {
  const beside = about === undefined ? '' : `   ${about}`;
  const room = page.columns - columnsOf(`${title}${beside}${remark}`);
  if (room >= 3) return [`${page.paint('strong', title)}${beside}${remark && `${' '.repeat(room)}${remark}`}`];
  const rest = [about ?? '', remark].filter((text) => text !== '').flatMap((text) => fitLines(text, page.columns));
  return [...fitLines(title, page.columns).map((line) => page.paint('strong', line)), ...rest];
}

/** Where to cut a piece so that the next one does not begin with a colon: before the last other character. */
function cutBeforeColon(piece: readonly string[]): number {
  const last = piece.findLastIndex((character) => character !== ':');
  return last > 0 ? last : piece.length;
}

/**
 * Cuts a word that is wider than the page (such as an address or a very long name) into pieces. No piece begins with a
 * colon, because GitHub's runner executes lines that begin with `::name::`. The character before the colon moves to the
 * next piece; if there is none, the colon is escaped.
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

/** Lines of at most this many columns, broken at blanks if possible. */
export const fitLines = (text: string, columns: number): readonly string[] =>
  wrap(text, Math.max(1, columns), (line) => cutWord(line, Math.max(1, columns)));

/** A path of plausible length, possibly in quotes or brackets and followed by punctuation. */
const wholePath = /^[("'`]?~?\/[\w./@:+%,=~-]{1,200}[)"'`;]{0,2}[.,;]?$/;

/** Like {@link fitLines}, but keeps a path on one line for copying, even if it is too wide. */
const keepPaths = (text: string, columns: number): readonly string[] =>
  wrap(text, Math.max(1, columns), (line) => (wholePath.test(line) ? [line] : cutWord(line, Math.max(1, columns))));

/** A paragraph after `first`; continuation lines are indented to the same column. */
export function hang(first: string, text: string, columns: number): readonly string[] {
  const width = columnsOf(first);
  const [top = '', ...rest] = keepPaths(text, columns - width);
  return [`${first}${top}`.trimEnd(), ...rest.map((line) => `${' '.repeat(width)}${line}`)];
}

/** Pads by display width, which `String.padEnd` ignores. */
export const padEnd = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - columnsOf(text)));

/** Short texts in as many columns as fit; each column reads downwards. */
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

/** Fills lines with as many pieces as fit, without breaking a piece. */
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

/** The meaning of a piece of text. Color only repeats what words and marks already express. */
export type Tone = 'good' | 'bad' | 'warn' | 'dim' | 'strong';

export type Paint = (tone: Tone, text: string) => string;

export const plainPaint: Paint = (_tone, text) => text;

export interface Page extends Reader {
  /** At least 20. */
  readonly columns: number;
  readonly unicode: boolean;
  readonly paint: Paint;
}

/** True if the page is too narrow for columns; each cell is then on its own line. */
export const isNarrow = ({ columns }: Pick<Page, 'columns'>): boolean => columns < 60;

/** Joins blocks of lines with a blank line between them; skips empty blocks. */
export const pageText = (blocks: readonly (readonly string[])[]): string =>
  `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
