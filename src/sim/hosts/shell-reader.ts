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
function skipBraces(cursor: Cursor): void {
  const start = cursor.at;
  while (cursor.at < cursor.text.length && !ahead(cursor, '}')) {
    const char = cursor.text[cursor.at];
    cursor.at += 1;
    if (char === '\\') cursor.at += 1;
    else if (char === "'") skipPast(cursor, "'");
    else if (char === '"') readDouble(cursor);
    else if (char === '$' || char === '`') readExpansion(cursor, char);
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
function readExpansion(cursor: Cursor, char: '$' | '`'): string {
  if (char === '`') {
    readNested(cursor, '`');
    return expansion;
  }
  if (ahead(cursor, '((')) {
    cursor.at += 2;
    skipArithmetic(cursor);
    return expansion;
  }
  if (ahead(cursor, '(')) {
    cursor.at += 1;
    readNested(cursor, ')');
    return expansion;
  }
  if (ahead(cursor, '{')) {
    cursor.at += 1;
    skipBraces(cursor);
    return expansion;
  }
  const name = /^([A-Za-z_][A-Za-z_0-9]*|[0-9@*#?$!-])/.exec(cursor.text.slice(cursor.at, cursor.at + 128))?.[0];
  if (name === undefined) return '$';
  cursor.at += name.length;
  return expansion;
}

/** Behind the opening double quote. */
function readDouble(cursor: Cursor): string {
  let literal = '';
  while (cursor.at < cursor.text.length) {
    literal += plainRun(cursor, plainInQuotes);
    if (cursor.at >= cursor.text.length) break;
    const char = cursor.text[cursor.at] ?? '';
    cursor.at += 1;
    if (char === '"') break;
    if (char === '\\') literal += cursor.text[cursor.at++] ?? '';
    else if (char === '$' || char === '`') literal += readExpansion(cursor, char);
    else literal += char;
  }
  return literal;
}

function readPiece(cursor: Cursor): string {
  const char = cursor.text[cursor.at] ?? '';
  cursor.at += 1;
  if (char === "'") return skipPast(cursor, "'");
  if (char === '"') return readDouble(cursor);
  if (char === '\\') return cursor.text[cursor.at++] ?? '';
  if (char === '$' || char === '`') return readExpansion(cursor, char);
  return char;
}

/** Reads one word; empty at an operator, at a blank and at the end of the text. */
function readWord(cursor: Cursor, end: End): ShellWord | undefined {
  const start = cursor.at;
  let literal = '';
  while (cursor.at < cursor.text.length) {
    const char = cursor.text[cursor.at] ?? '';
    if (blankOrOperator.test(char) || (char === '`' && end === '`')) break;
    literal += plainRun(cursor, plainInWord) || readPiece(cursor);
  }
  if (cursor.at === start) return undefined;
  return { literal, isSingleQuoted: cursor.text[start] === "'", line: lineAt(cursor, start) };
}
/** One word of a shell text, as far as it can be known without running it. */
export interface ShellWord {
  /** Quotes removed; `expansion` stands for whatever the shell would put in. */
  readonly literal: string;
  /** Whether it began inside single quotes: then it is data, or a script for another shell. */
  readonly isSingleQuoted: boolean;
  readonly line: number;
}

/** One simple command: `NAME=value` words, then the words, and the targets of redirections. */
export interface SimpleCommand {
  readonly assignments: ShellWord[];
  readonly words: ShellWord[];
  readonly targets: ShellWord[];
}

/** A form that the shell of a Mac, bash 3.2, does not take. */
export interface Refusal {
  readonly kind: 'bare-case-pattern' | 'bad-substitution' | 'unexpected-token';
  /** The token or the parameter expansion in question. */
  readonly token: string;
  readonly line: number;
}

/** Stands in a literal for an expansion. */
const expansion = '\u0000';

/** Where the reader is, and what it has found. Private to the reader's own files. */
interface Cursor {
  readonly text: string;
  at: number;
  readonly commands: SimpleCommand[];
  readonly refusals: Refusal[];
  /** Delimiters of here-documents whose bodies begin after the next newline. */
  readonly heredocs: { readonly delimiter: string; readonly isIndented: boolean }[];
  /** How many `$( )` are open: there bash 3.2 counts parentheses instead of reading the grammar. */
  substitutions: number;
  /** The place whose line was asked for last, and that line: texts are long, and asked about word by word. */
  counted: { readonly at: number; readonly line: number };
}

/** How many lines end between two places. */
function newlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** The line of a place in the text, from 1. */
function lineAt(cursor: Cursor, at = cursor.at): number {
  const { text, counted } = cursor;
  const more = at < counted.at ? -newlines(text, at, counted.at) : newlines(text, counted.at, at);
  cursor.counted = { at, line: counted.line + more };
  return cursor.counted.line;
}

/** The next characters. */
const ahead = (cursor: Cursor, wanted: string): boolean => cursor.text.startsWith(wanted, cursor.at);

/** Skips to behind the next occurrence of `wanted`, or to the end. */
function skipPast(cursor: Cursor, wanted: string): string {
  const end = cursor.text.indexOf(wanted, cursor.at);
  const part = cursor.text.slice(cursor.at, end < 0 ? undefined : end);
  cursor.at = end < 0 ? cursor.text.length : end + wanted.length;
  return part;
}

/** A `case` under way: before `in`, in a pattern, or in the commands of a pattern. */
interface OpenCase {
  state: 'subject' | 'pattern' | 'body';
  hasParenthesis: boolean;
}

type End = ')' | '`' | undefined;

interface List {
  readonly end: End;
  readonly cases: OpenCase[];
  command: SimpleCommand;
}

const reserved = new Set(['if', 'then', 'else', 'elif', 'do', 'while', 'until', '{', '!', 'time']);
const operators = ['&>>', ';;&', ';;', ';&', '&&', '||', '|&', '&>', '&', ';', '|', '\n'];
/** Came with bash 4; dash takes none of them either, but a bash 5 in the place of sh does. */
const newOperators = new Set(['&>>', ';;&', ';&', '|&']);
const redirections = ['<<-', '<<<', '<<', '<>', '<&', '>>', '>&', '>|', '<', '>'];
/** Most words begin with neither: the lists need not be tried for them. */
const redirectionStart = /[0-9<>]/;
const operatorStart = /[&;|\n]/;

const emptyCommand = (): SimpleCommand => ({ assignments: [], words: [], targets: [] });

function finish(cursor: Cursor, list: List): void {
  const { assignments, words, targets } = list.command;
  if (assignments.length + words.length + targets.length > 0) cursor.commands.push(list.command);
  list.command = emptyCommand();
}

/** Behind the newline: the bodies of the here-documents that were announced on this line are data. */
function skipHeredocs(cursor: Cursor): void {
  for (const { delimiter, isIndented } of cursor.heredocs.splice(0)) {
    for (;;) {
      if (cursor.at >= cursor.text.length) break;
      const line = skipPast(cursor, '\n');
      if ((isIndented ? line.replace(/^\t+/, '') : line) === delimiter) break;
    }
  }
}

function skipBlanks(cursor: Cursor): void {
  for (;;) {
    if (ahead(cursor, '\\\n')) cursor.at += 2;
    else if (ahead(cursor, ' ') || ahead(cursor, '\t')) cursor.at += 1;
    else break;
  }
  if (ahead(cursor, '#')) {
    const end = cursor.text.indexOf('\n', cursor.at);
    cursor.at = end < 0 ? cursor.text.length : end;
  }
}

function takeRedirection(cursor: Cursor, list: List): boolean {
  if (!redirectionStart.test(cursor.text[cursor.at] ?? '')) return false;
  const digits = /^[0-9]*/.exec(cursor.text.slice(cursor.at, cursor.at + 8))?.[0].length ?? 0;
  const operator = redirections.find((one) => cursor.text.startsWith(one, cursor.at + digits));
  if (operator === undefined) return false;
  cursor.at += digits + operator.length;
  if (ahead(cursor, '(')) {
    cursor.refusals.push({ kind: 'unexpected-token', token: '(', line: lineAt(cursor) });
    return true;
  }
  skipBlanks(cursor);
  const target = readWord(cursor, list.end);
  if (target === undefined) return true;
  if (operator === '<<' || operator === '<<-') {
    cursor.heredocs.push({ delimiter: target.literal, isIndented: operator === '<<-' });
  } else if (operator !== '<<<') list.command.targets.push(target);
  return true;
}

function takeOperator(cursor: Cursor, list: List): boolean {
  if (!operatorStart.test(cursor.text[cursor.at] ?? '')) return false;
  const operator = operators.find((one) => ahead(cursor, one));
  if (operator === undefined) return false;
  if (newOperators.has(operator)) {
    cursor.refusals.push({ kind: 'unexpected-token', token: operator.slice(-1), line: lineAt(cursor) });
  }
  cursor.at += operator.length;
  const open = list.cases.at(-1);
  if (operator.startsWith(';;') && open !== undefined) {
    open.state = 'pattern';
    open.hasParenthesis = false;
  }
  // A newline between `case x` and `in` ends nothing.
  if (open?.state !== 'subject') finish(cursor, list);
  if (operator === '\n') skipHeredocs(cursor);
  return true;
}

/** True when the parenthesis ends the whole list. */
function takeParenthesis(cursor: Cursor, list: List): boolean {
  const open = list.cases.at(-1);
  const isOpening = ahead(cursor, '(');
  if (!isOpening && list.end === ')' && open?.state !== 'pattern') return true;
  cursor.at += 1;
  if (open?.state === 'pattern') {
    if (isOpening) open.hasParenthesis = true;
    else endPattern(cursor, list, open);
  } else if (isOpening) {
    finish(cursor, list);
    readList(cursor, ')');
  }
  return false;
}

function endPattern(cursor: Cursor, list: List, open: OpenCase): void {
  if (!open.hasParenthesis && cursor.substitutions > 0) {
    cursor.refusals.push({ kind: 'bare-case-pattern', token: ';;', line: lineAt(cursor) });
  }
  open.state = 'body';
  list.command = emptyCommand();
}

/** What a word means where it stands: a reserved word, part of a `case`, an assignment, or a word of a command. */
function place(list: List, word: ShellWord): void {
  const open = list.cases.at(-1);
  const { command } = list;
  const isFirst = command.words.length === 0;
  if (open?.state === 'subject') {
    if (word.literal === 'in') {
      open.state = 'pattern';
      list.command = emptyCommand();
    }
    return;
  }
  if (word.literal === 'esac' && open !== undefined && (isFirst || open.state === 'pattern')) list.cases.pop();
  else if (open?.state === 'pattern') return;
  else if (isFirst && word.literal === 'case') list.cases.push({ state: 'subject', hasParenthesis: false });
  else if (isFirst && reserved.has(word.literal)) return;
  else if (isFirst && /^[A-Za-z_][A-Za-z_0-9]*=/.test(word.literal)) command.assignments.push(word);
  else command.words.push(word);
}

/** Reads commands to `end`, which it takes as well, or to the end of the text. */
function readList(cursor: Cursor, end: End): void {
  const list: List = { end, cases: [], command: emptyCommand() };
  for (;;) {
    skipBlanks(cursor);
    if (cursor.at >= cursor.text.length) break;
    if (end === '`' && ahead(cursor, '`')) break;
    if (ahead(cursor, '(') || ahead(cursor, ')')) {
      if (takeParenthesis(cursor, list)) break;
    } else if (!takeRedirection(cursor, list) && !takeOperator(cursor, list)) {
      const word = readWord(cursor, end);
      if (word !== undefined) place(list, word);
    }
  }
  if (end !== undefined) cursor.at += 1;
  finish(cursor, list);
}

function readNested(cursor: Cursor, end: ')' | '`'): void {
  const depth = end === ')' ? 1 : 0;
  cursor.substitutions += depth;
  readList(cursor, end);
  cursor.substitutions -= depth;
}

/**
 * Reads a shell text into its simple commands, without running or judging anything. It follows the grammar of POSIX
 * sh far enough for quoting, expansions, here-documents, `case` and redirections; a text that no shell would take
 * gives some reading and never an error. Bodies of here-documents are data.
 */
export function readShell(text: string): Pick<Cursor, 'commands' | 'refusals'> {
  const cursor: Cursor = {
    text,
    at: 0,
    commands: [],
    refusals: [],
    heredocs: [],
    substitutions: 0,
    counted: { at: 0, line: 1 },
  };
  while (cursor.at < text.length) readList(cursor, undefined);
  return cursor;
}
