import {
  ahead,
  type Cursor,
  lineAt,
  type ShellReading,
  type ShellWord,
  type SimpleCommand,
  skipPast,
} from './shell-cursor.ts';
import { readWord } from './shell-words.ts';

interface OpenCommand {
  readonly assignments: ShellWord[];
  readonly words: ShellWord[];
  readonly targets: ShellWord[];
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
  command: OpenCommand;
}

const reserved = new Set(['if', 'then', 'else', 'elif', 'do', 'while', 'until', '{', '!', 'time']);
const operators = ['&>>', ';;&', ';;', ';&', '&&', '||', '|&', '&>', '&', ';', '|', '\n'];
/** Came with bash 4; dash takes none of them either, but a bash 5 in the place of sh does. */
const newOperators = new Set(['&>>', ';;&', ';&', '|&']);
const redirections = ['<<-', '<<<', '<<', '<>', '<&', '>>', '>&', '>|', '<', '>'];
/** Most words begin with neither: the lists need not be tried for them. */
const redirectionStart = /[0-9<>]/;
const operatorStart = /[&;|\n]/;

const emptyCommand = (): OpenCommand => ({ assignments: [], words: [], targets: [] });

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
  const target = readWord(cursor, list.end, readNested);
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
      const word = readWord(cursor, end, readNested);
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
export function readShell(text: string): ShellReading {
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
  const commands: readonly SimpleCommand[] = cursor.commands;
  return { commands, refusals: cursor.refusals };
}
