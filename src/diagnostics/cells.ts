import { escapeText } from './escape.ts';

/** Characters that take two columns: the Unicode blocks of East Asian wide forms, and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const zeroWidth = /[\p{Mn}\p{Me}]/u;
const tabColumns = 4;

/** The number of terminal columns of one line of escaped text. */
export function columnsOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

function widthOf(character: string): number {
  if (zeroWidth.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/** One character of a source line as shown, with its first column. */
export interface Cell {
  readonly shown: string;
  /** Offset in the line, UTF-16 code units from 0. */
  readonly offset: number;
  readonly column: number;
  readonly columns: number;
}

/** The escaped cells of one line of a file. A tab becomes spaces up to the next multiple of four columns. */
export function cellsOf(line: string): readonly Cell[] {
  const cells: Cell[] = [];
  let column = 0;
  let offset = 0;
  for (const character of line) {
    const shown = character === '\t' ? ' '.repeat(tabColumns - (column % tabColumns)) : escapeText(character);
    const columns = columnsOf(shown);
    cells.push({ shown, offset, column, columns });
    column += columns;
    offset += character.length;
  }
  return cells;
}

/** Stands for a space at which {@link wrap} does not break: inside a command. */
export const firmSpace = '\u00a0';

/** Makes the spaces inside backticks firm if the words there fit on a line. */
const keepQuoted = (text: string, columns: number): string => {
  const parts = text.split('`');
  const isQuoted = (part: string, at: number): boolean =>
    at % 2 === 1 && at < parts.length - 1 && part.length + 3 <= columns;
  return parts.map((part, at) => (isQuoted(part, at) ? part.replaceAll(' ', firmSpace) : part)).join('`');
};

/**
 * Breaks `text` at spaces so that no line is wider than `columns`; a longer word gets a line of its own, which `cut` may
 * cut. A command is not broken or cut. Nor is a line that begins with two spaces, which is something to copy.
 */
export function wrap(
  text: string,
  columns: number,
  cut: (line: string) => readonly string[] = (line) => [line],
): readonly string[] {
  if (text.startsWith('  ')) return [text.replaceAll(firmSpace, ' ')];
  const lines: string[] = [];
  let line = '';
  for (const word of keepQuoted(text, columns).split(' ')) {
    if (line !== '' && columnsOf(line) + 1 + columnsOf(word) > columns) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  lines.push(line);
  return lines.flatMap((one) => (one.includes(firmSpace) ? [one.replaceAll(firmSpace, ' ')] : cut(one)));
}

/** Text cut to this width; `...` marks the cut. */
export function clip(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let cut = [...text];
  while (cut.length > 0 && columnsOf(cut.join('')) > columns - 3) cut = cut.slice(0, -1);
  return `${cut.join('')}...`;
}
