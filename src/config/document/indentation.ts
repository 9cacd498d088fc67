import type { CST, YAMLParseError } from 'yaml';
import type { Problem } from '../problem.ts';
import { lineAndColumn, type SourceText } from './line-index.ts';
import { childrenOf } from './yaml-tokens.ts';

/** The beginning of a key or of a list item. */
interface Level {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
  readonly isItem: boolean;
}

/** Every key and list item that is not inside brackets, in the order of the text. */
export function levelsOf(tokens: readonly CST.Token[], source: SourceText): readonly Level[] {
  const open = [...tokens];
  const levels: Level[] = [];
  for (let token = open.pop(); token !== undefined; token = open.pop()) {
    open.push(...childrenOf(token));
    if (token.type !== 'block-map' && token.type !== 'block-seq') continue;
    for (const { start, key } of token.items) {
      const dash = start.find(({ type }) => type === 'seq-item-ind' || type === 'explicit-key-ind');
      const offset = dash?.offset ?? key?.offset;
      if (offset === undefined) continue;
      levels.push({ offset, ...lineAndColumn(source, offset), isItem: token.type === 'block-seq' });
    }
  }
  return levels.sort((a, b) => a.offset - b.offset);
}

/** The problem of a line that begins where no line above it lets it begin; undefined for any other error. */
export function indentationProblem(
  error: YAMLParseError,
  source: SourceText,
  levels: readonly Level[],
): Problem | undefined {
  const start = misplacedLine(error, source.text);
  if (start === undefined) return undefined;
  const { column } = lineAndColumn(source, start);
  const isItem = /^-(?:\s|$)/.test(source.text.slice(start, start + 2));
  const fitting = openLevels(levels, error.pos[0], column).filter((level) => level.isItem === isItem);
  if (fitting.length === 0) return undefined;
  const others = fitting.map((level) => `line ${level.line} at column ${level.column}`);
  const ways = fitting.map((level) => `at column ${level.column} as line ${level.line}`);
  return {
    code: 'yaml/syntax',
    span: { start, end: start + 1 },
    detail: `This line begins at column ${column}, ${others.join(' and ')}.`,
    hint: `Begin it ${ways.join(', or ')}.`,
  };
}

/** Where the first character of the line stands that an error of indentation is about. */
function misplacedLine({ code, message, pos }: YAMLParseError, text: string): number | undefined {
  const isNested = code === 'BLOCK_AS_IMPLICIT_KEY' && message.startsWith('Nested');
  const isOther = code === 'BAD_INDENT' || code === 'BLOCK_AS_IMPLICIT_KEY' || message.startsWith('Sequence item');
  if (!isNested && !isOther) return undefined;
  const lineEnd = text.indexOf('\n', pos[0]);
  // A value that goes on in the next line, which was meant as a key; two keys on one line are another mistake.
  if (isNested && (lineEnd === -1 || /:\s/.test(text.slice(pos[0], lineEnd + 1)))) return undefined;
  const content = contentFrom(text, isNested ? lineEnd + 1 : text.lastIndexOf('\n', pos[0] - 1) + 1);
  return content < text.length ? content : undefined;
}

/** The first character from the start of a line on that is no space and in no comment. */
export function contentFrom(text: string, lineStart: number): number {
  const blank = /(?: *(?:#.*)?\r?\n)* */y;
  blank.lastIndex = lineStart;
  return lineStart + (blank.exec(text)?.[0].length ?? 0);
}

/** The nearest columns on both sides at which a line could begin; none when it begins at a right one. */
function openLevels(levels: readonly Level[], before: number, column: number): readonly Level[] {
  let deeper: Level | undefined;
  for (const level of levels.toReversed()) {
    if (level.offset >= before || level.column >= (deeper?.column ?? Number.POSITIVE_INFINITY)) continue;
    if (level.column === column) return [];
    if (level.column < column) return deeper === undefined ? [level] : [deeper, level];
    deeper = level;
  }
  return deeper === undefined ? [] : [deeper];
}
