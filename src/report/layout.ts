import { columnsOf, wrap } from '../diagnostics/cells.ts';

/**
 * A word that is wider than the page (a path, an address) is cut into pieces, so that no line breaks the layout. A
 * colon at the start of a piece is escaped: GitHub's runner would obey a line that begins with `::name::`.
 */
function cutWord(word: string, columns: number): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const character of word) {
    if (piece !== '' && columnsOf(piece + character) > columns) {
      pieces.push(piece);
      piece = character === ':' ? '\\u{3a}' : character;
    } else {
      piece += character;
    }
  }
  return [...pieces, piece];
}

/** Lines of at most this many columns, broken at blanks where there are any. */
export const fitLines = (text: string, columns: number): readonly string[] =>
  wrap(text, Math.max(1, columns)).flatMap((line) => cutWord(line, Math.max(1, columns)));

/** A paragraph behind `first`; its later lines stand under its text. */
export function hang(first: string, text: string, columns: number): readonly string[] {
  const width = columnsOf(first);
  const [top = '', ...rest] = fitLines(text, columns - width);
  return [`${first}${top}`.trimEnd(), ...rest.map((line) => `${' '.repeat(width)}${line}`)];
}

/** Text with blanks behind it up to this width. */
export const padEnd = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - columnsOf(text)));

/** Text cut to this width; what was cut shows as `...`. */
export function clip(text: string, columns: number): string {
  if (columnsOf(text) <= columns) {
    return text;
  }
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
