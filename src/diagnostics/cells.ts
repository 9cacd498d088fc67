import { escapeText } from './escape.ts';

/** Characters two columns wide: the Unicode blocks with East Asian wide forms, and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const zeroWidth = /[\p{Mn}\p{Me}]/u;
const tabColumns = 4;

/** Returns the width of one line of escaped text, in terminal columns. */
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

/** One displayed character of a source line, with its first column. */
export interface Cell {
  readonly shown: string;
  /** Offset in the line, in UTF-16 code units from 0. */
  readonly offset: number;
  readonly column: number;
  readonly columns: number;
}

/** Splits one line of a file into escaped cells. A tab becomes spaces up to the next multiple of four columns. */
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

/** Represents a space inside a command, where {@link wrap} does not break the line. */
export const firmSpace = '\u00a0';

/** Makes the spaces inside backticks firm if the quoted words fit on a line. */
const keepQuoted = (text: string, columns: number): string => {
  const parts = text.split('`');
  const isQuoted = (part: string, at: number): boolean =>
    at % 2 === 1 && at < parts.length - 1 && part.length + 3 <= columns;
  return parts.map((part, at) => (isQuoted(part, at) ? part.replaceAll(' ', firmSpace) : part)).join('`');
};

/**
 * Breaks `text` at spaces so that no line is wider than `columns`. A longer word gets a separate line, which `cut` can
 * cut. Commands are never broken or cut, nor are lines that begin with two spaces, because they are to be copied.
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

/** Cuts a text to this width; `...` marks the cut. */
export function clip(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let cut = [...text];
  while (cut.length > 0 && columnsOf(cut.join('')) > columns - 3) cut = cut.slice(0, -1);
  return `${cut.join('')}...`;
}
