import { ahead, type Cursor, expansion, lineAt, type ShellWord, skipPast } from './shell-cursor.ts';

/** Reads the commands of a `$( )` or a pair of backquotes; given by the reader of lists, which reads words itself. */
export type ReadNested = (cursor: Cursor, end: ')' | '`') => void;

/** A carriage return and its kind are characters like any other to a shell. */
const blankOrOperator = /[ \t\n;&|()<>]/;

/** Characters that stand for themselves, as many as follow each other: observations are long texts of them. */
const plainInWord = /[^ \t\n;&|()<>'"\\$`]+/y;
const plainInQuotes = /[^"\\$`]+/y;

/** Takes the characters from here on that mean nothing but themselves; empty when the next one does. */
function plainRun(cursor: Cursor, plain: RegExp): string {
  plain.lastIndex = cursor.at;
  const run = plain.exec(cursor.text)?.[0] ?? '';
  cursor.at += run.length;
  return run;
}

/** `${x^^}` and its kind came with bash 4; also `${x,,}`, `${x@Q}`. */
const caseChange = /^!?[A-Za-z_0-9@*]+(\^|,|@[A-Z]$)/;

/** Behind `${`: to the matching brace, through quotes and nested expansions. */
function skipBraces(cursor: Cursor, nested: ReadNested): void {
  const start = cursor.at;
  while (cursor.at < cursor.text.length && !ahead(cursor, '}')) {
    const char = cursor.text[cursor.at];
    cursor.at += 1;
    if (char === '\\') cursor.at += 1;
    else if (char === "'") skipPast(cursor, "'");
    else if (char === '"') readDouble(cursor, nested);
    else if (char === '$' || char === '`') readExpansion(cursor, char, nested);
  }
  const inside = cursor.text.slice(start, cursor.at);
  cursor.at += 1;
  if (caseChange.test(inside)) {
    cursor.refusals.push({ kind: 'bad-substitution', token: `\${${inside}}`, line: lineAt(cursor, start) });
  }
}

/** Behind `$((`: to the matching `))`. */
function skipArithmetic(cursor: Cursor): void {
  let depth = 2;
  while (cursor.at < cursor.text.length && depth > 0) {
    if (ahead(cursor, '(')) depth += 1;
    if (ahead(cursor, ')')) depth -= 1;
    cursor.at += 1;
  }
}

/** Behind a `$` or a backquote. Returns what it stands for: itself when it expands nothing. */
function readExpansion(cursor: Cursor, char: '$' | '`', nested: ReadNested): string {
  if (char === '`') {
    nested(cursor, '`');
    return expansion;
  }
  if (ahead(cursor, '((')) {
    cursor.at += 2;
    skipArithmetic(cursor);
    return expansion;
  }
  if (ahead(cursor, '(')) {
    cursor.at += 1;
    nested(cursor, ')');
    return expansion;
  }
  if (ahead(cursor, '{')) {
    cursor.at += 1;
    skipBraces(cursor, nested);
    return expansion;
  }
  const name = /^([A-Za-z_][A-Za-z_0-9]*|[0-9@*#?$!-])/.exec(cursor.text.slice(cursor.at, cursor.at + 128))?.[0];
  if (name === undefined) return '$';
  cursor.at += name.length;
  return expansion;
}

/** Behind the opening double quote. */
function readDouble(cursor: Cursor, nested: ReadNested): string {
  let literal = '';
  while (cursor.at < cursor.text.length) {
    literal += plainRun(cursor, plainInQuotes);
    if (cursor.at >= cursor.text.length) break;
    const char = cursor.text[cursor.at] ?? '';
    cursor.at += 1;
    if (char === '"') break;
    if (char === '\\') literal += cursor.text[cursor.at++] ?? '';
    else if (char === '$' || char === '`') literal += readExpansion(cursor, char, nested);
    else literal += char;
  }
  return literal;
}

function readPiece(cursor: Cursor, nested: ReadNested): string {
  const char = cursor.text[cursor.at] ?? '';
  cursor.at += 1;
  if (char === "'") return skipPast(cursor, "'");
  if (char === '"') return readDouble(cursor, nested);
  if (char === '\\') return cursor.text[cursor.at++] ?? '';
  if (char === '$' || char === '`') return readExpansion(cursor, char, nested);
  return char;
}

/** Reads one word; empty at an operator, at a blank and at the end of the text. */
export function readWord(cursor: Cursor, end: ')' | '`' | undefined, nested: ReadNested): ShellWord | undefined {
  const start = cursor.at;
  let literal = '';
  while (cursor.at < cursor.text.length) {
    const char = cursor.text[cursor.at] ?? '';
    if (blankOrOperator.test(char) || (char === '`' && end === '`')) break;
    literal += plainRun(cursor, plainInWord) || readPiece(cursor, nested);
  }
  if (cursor.at === start) return undefined;
  return { literal, isSingleQuoted: cursor.text[start] === "'", line: lineAt(cursor, start) };
}
