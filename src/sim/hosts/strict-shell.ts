/** A reason why a Mac would not run this text, or why only the simulator's Linux would run it. */
export interface Objection {
  /** The shell's message on standard error. */
  readonly text: string;
  readonly code: number;
}

/** Folders on a Mac or the host. A path there without the node's root would silently leave the simulated Mac. */
const systemFolder =
  /^\/(bin|sbin|usr|etc|var|tmp|private|Library|System|Users|Applications|Volumes|opt|dev|proc|sys|home|root|run|cores)(\/|$)/;
const nestingLimit = 8;

interface Place {
  readonly root: string;
  readonly depth: number;
}

const isInside = (path: string, root: string): boolean => path === root || path.startsWith(`${root}/`);

/**
 * Devices that are the same on both systems. So are /dev/stdin and /dev/fd, but opening the FIFO behind them blocks
 * once the client has ended its input. `cat` and `<&0` do not need them.
 */
const device = /^\/dev\/(null|zero|random|urandom|stdout|stderr)$/;

const isAllowed = (path: string, { root }: Place): boolean => device.test(path) || isInside(path, root);

/** Data in single quotes is ignored, except where every text is a path. */
function isOutside(word: ShellWord, place: Place, isPathAnyway: boolean): boolean {
  if (word.isSingleQuoted && !isPathAnyway) return false;
  return systemFolder.test(word.literal) && !isAllowed(word.literal, place);
}

/** Whether a command or redirection would leave the root: by an absolute path that is not allowed, or by `..`. */
const leavesRoot = (path: string, place: Place): boolean =>
  (path.startsWith('/') && !isAllowed(path, place)) || path.split('/').includes('..');

/** The part after `NAME=`. */
const assignedWord = (assignment: ShellWord): ShellWord => ({
  ...assignment,
  literal: assignment.literal.slice(assignment.literal.indexOf('=') + 1),
});

/** Words before a command that do not change the program that runs. */
const transparent = new Set(['exec', 'command', 'nohup', 'builtin']);

function commandWords(command: SimpleCommand): readonly ShellWord[] {
  const start = command.words.findIndex((word) => !transparent.has(word.literal));
  return start < 0 ? [] : command.words.slice(start);
}

/** A word can be a whole script, so it is not split into parts. */
const baseName = (word: ShellWord | undefined): string =>
  word === undefined ? '' : word.literal.slice(word.literal.lastIndexOf('/') + 1);
const shells = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh']);

/** Scripts that this command passes to a shell: `sh -c TEXT`, `eval TEXT`, `trap TEXT …`. */
function innerScripts(command: SimpleCommand): readonly string[] {
  const words = commandWords(command);
  const name = baseName(words[0]);
  if (name === 'eval') {
    const literals = words.slice(1).map((word) => word.literal);
    return [literals.join(' ')];
  }
  if (name === 'trap') return words.length > 2 ? [words[1]?.literal ?? ''] : [];
  const shellAt = command.words.findIndex((word) => shells.has(baseName(word)));
  if (shellAt < 0) return [];
  const flagAt = command.words.findIndex((word, at) => at > shellAt && /^-[abd-z]*c[a-z]*$/.test(word.literal));
  const script = flagAt < 0 ? undefined : command.words[flagAt + 1];
  return script === undefined ? [] : [script.literal];
}

/** Builtins of bash 4 and later; macOS's shell is bash 3.2.57. */
function newBuiltin(command: SimpleCommand): Omit<Found, 'at'> | undefined {
  const [name = '', first = ''] = commandWords(command).map((word) => word.literal);
  if (['mapfile', 'readarray', 'coproc'].includes(name)) return { said: `${name}: command not found`, code: 127 };
  if (['declare', 'local', 'typeset'].includes(name) && /^-[a-z]*A/.test(first))
    return { said: `${name}: -A: invalid option`, code: 2 };
  return name === 'printf' && /%[0-9.-]*\(/.test(first)
    ? { said: "printf: `(': invalid format character", code: 1 }
    : undefined;
}

/** By `/bin/sh` as the first command, a client can leave any login shell: every Mac has `/bin/sh`. */
const isOuterShell = (word: ShellWord, index: number, place: Place): boolean =>
  place.depth === 0 && index === 0 && word.literal === '/bin/sh';

/** A command's words that lead outside the node. */
function outsidePaths(command: SimpleCommand, index: number, place: Place): readonly ShellWord[] {
  const [name, ...rest] = commandWords(command);
  const asksDirectory = [name, ...rest].some((word) => baseName(word) === 'dscl');
  const isRecord = ({ literal }: ShellWord): boolean => asksDirectory && /^\/(?:Users|Groups)(?:\/|$)/.test(literal);
  return [
    ...(name !== undefined && leavesRoot(name.literal, place) && !isOuterShell(name, index, place) ? [name] : []),
    ...rest.filter((word) => isOutside(word, place, false) && !isRecord(word)),
    ...command.targets.filter((word) => leavesRoot(word.literal, place)),
    ...command.assignments.map(assignedWord).filter((word) => isOutside(word, place, true)),
  ];
}

function inspect(text: string, place: Place): readonly Objection[] {
  const { commands, refusals } = readShell(text);
  const inner = { ...place, depth: place.depth + 1 };
  const objection = ({ at, said, code }: Found, shell = 'sh'): Objection => ({
    text: `${shell}: line ${text.slice(0, at).split('\n').length}: ${said}`,
    code,
  });
  return [
    ...refusals.map((one) => objection(one, one.code === 2 ? 'sh: -c' : 'sh')),
    ...commands.flatMap((command, index) => {
      const builtin = newBuiltin(command);
      return [
        ...outsidePaths(command, index, place).map(({ at, literal }) => {
          const said = `${literal}: No such file or directory (simulated: below this node's root only)`;
          return objection({ at, said, code: 127 });
        }),
        ...(builtin === undefined ? [] : [objection({ at: commandWords(command)[0]?.at ?? 0, ...builtin })]),
        ...(place.depth < nestingLimit ? innerScripts(command).flatMap((script) => inspect(script, inner)) : []),
      ];
    }),
  ];
}

/**
 * Finds everything in a received command text that a Mac would refuse or that would leave the simulated Mac. The
 * objections are in text order; without objections, the text may run. The check covers every command word, redirection
 * target, assignment and unquoted or double-quoted argument, and scripts for `sh -c`, `eval` and `trap`. It ignores
 * arguments in single quotes and bodies of here-documents, which are data. Allowed without a root: devices such as
 * `/dev/null`, and `/bin/sh` as the first command. A Mac would run the lines before a refused one; the simulator runs
 * nothing.
 *
 * @see bash 3.2.57, as built from Apple's source: refuses a bare `case` pattern inside `$( )`
 */
export const objectionsTo = (text: string, root: string): readonly Objection[] => inspect(text, { root, depth: 0 });

/**
 * Returns a check for the input of a command that makes a shell read its script from standard input (`sh -s`);
 * undefined for other commands. By the time the script is complete it is already running, so its objections are only
 * recorded.
 */
export function inputCheck(text: string, root: string): ((input: string) => readonly Objection[]) | undefined {
  const readsScript = readShell(text).commands.some(({ words }) => {
    const shellAt = words.findIndex((word) => shells.has(baseName(word)));
    const after = words.slice(shellAt + 1);
    return shellAt >= 0 && (after.length === 0 || after.some((word) => /^-[a-z]*s$/.test(word.literal)));
  });
  return readsScript ? (input) => inspect(input, { root, depth: 1 }) : undefined;
}

/** One word of a shell text, as far as it is known without running the text. */
interface ShellWord {
  /** The word without quotes; `expansion` represents each shell expansion. */
  readonly literal: string;
  /** Whether the word begins inside single quotes, so that it is data or a script for a different shell. */
  readonly isSingleQuoted: boolean;
  /** Its position in the text. */
  readonly at: number;
}

/** One simple command: `NAME=value` words, then the other words, and the targets of redirections. */
interface SimpleCommand {
  readonly assignments: ShellWord[];
  readonly words: ShellWord[];
  readonly targets: ShellWord[];
}

/** Syntax that a Mac's shell, bash 3.2, rejects: its position, the message and the exit code. */
interface Found {
  readonly at: number;
  readonly said: string;
  readonly code: number;
}

/** Represents an expansion in a literal. */
const expansion = '\u0000';

interface Cursor {
  readonly text: string;
  at: number;
  readonly commands: SimpleCommand[];
  readonly refusals: Found[];
  /** Delimiters of here-documents whose bodies begin after the next newline. */
  readonly heredocs: { readonly delimiter: string; readonly isIndented: boolean }[];
  /** Number of open `$( )`, inside which bash 3.2 counts parentheses instead of parsing the grammar. */
  substitutions: number;
}

const refuseToken = (cursor: Cursor, token: string): void => {
  cursor.refusals.push({ at: cursor.at, said: `syntax error near unexpected token \`${token}'`, code: 2 });
};

/** Whether the text continues with `wanted`. */
const ahead = (cursor: Cursor, wanted: string): boolean => cursor.text.startsWith(wanted, cursor.at);

const isAtEnd = (cursor: Cursor): boolean => cursor.at >= cursor.text.length;

/** Consumes a match of a sticky pattern; empty if nothing matches. */
function take(cursor: Cursor, pattern: RegExp): string {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text)?.[0] ?? '';
  cursor.at += found.length;
  return found;
}

/** Skips past the next `wanted`, or to the end. */
function skipPast(cursor: Cursor, wanted: string): string {
  const end = cursor.text.indexOf(wanted, cursor.at);
  const part = cursor.text.slice(cursor.at, end < 0 ? undefined : end);
  cursor.at = end < 0 ? cursor.text.length : end + wanted.length;
  return part;
}

/** Carriage returns and similar characters are ordinary characters for a shell. */
const blankOrOperator = /[ \t\n;&|()<>]/;

/** Blanks, continued lines, and a comment after them. */
const blanks = /(?:[ \t]|\\\n)*(?:#[^\n]*)?/y;

/** Matches as many ordinary characters as possible at once, because observations consist mostly of such characters. */
const plainInWord = /[^ \t\n;&|()<>'"\\$`]+/y;
const plainInQuotes = /[^"\\$`]+/y;
const parameterName = /[A-Za-z_][A-Za-z_0-9]*|[0-9@*#?$!-]/y;

/** Expansions that are new in bash 4, such as `${x^^}`, `${x,,}` and `${x@Q}`. */
const caseChange = /^!?[A-Za-z_0-9@*]+(\^|,|@[A-Z]$)/;

/** After `${`: skips to the matching brace, past quotes and nested expansions. */
function skipBraces(cursor: Cursor): void {
  const start = cursor.at;
  while (!isAtEnd(cursor) && !ahead(cursor, '}')) readPiece(cursor);
  const inside = cursor.text.slice(start, cursor.at);
  cursor.at += 1;
  if (caseChange.test(inside)) {
    cursor.refusals.push({ at: start, said: `\${${inside}}: bad substitution`, code: 1 });
  }
}

/** After `$((`: skips to the matching `))`. */
function skipArithmetic(cursor: Cursor): void {
  for (let depth = 2; !isAtEnd(cursor) && depth > 0; cursor.at += 1) {
    if (ahead(cursor, '(')) depth += 1;
    if (ahead(cursor, ')')) depth -= 1;
  }
}

/** Reads an expansion after `$` or a backquote. Returns its literal, or the character itself if nothing is expanded. */
function readExpansion(cursor: Cursor, char: '$' | '`'): string {
  if (char === '`') readNested(cursor, '`');
  else if (take(cursor, /\(\(/y) !== '') skipArithmetic(cursor);
  else if (take(cursor, /\(/y) !== '') readNested(cursor, ')');
  else if (take(cursor, /\{/y) !== '') skipBraces(cursor);
  else if (take(cursor, parameterName) === '') return '$';
  return expansion;
}

/** Reads the text after an opening double quote. */
function readDouble(cursor: Cursor): string {
  let literal = '';
  while (!isAtEnd(cursor) && take(cursor, /"/y) === '') literal += take(cursor, plainInQuotes) || readPiece(cursor);
  return literal;
}

/** Reads the next unit: a quoted text, an expansion, an escaped character or a single character. */
function readPiece(cursor: Cursor): string {
  const char = cursor.text[cursor.at++] ?? '';
  if (char === "'") return skipPast(cursor, "'");
  if (char === '"') return readDouble(cursor);
  if (char === '\\') return cursor.text[cursor.at++] ?? '';
  if (char === '$' || char === '`') return readExpansion(cursor, char);
  return char;
}

/** Reads one word; undefined at an operator, at a blank and at the end of the text. */
function readWord(cursor: Cursor, end: End): ShellWord | undefined {
  const start = cursor.at;
  let literal = '';
  while (!isAtEnd(cursor)) {
    if (blankOrOperator.test(cursor.text[cursor.at] ?? '') || (end === '`' && ahead(cursor, '`'))) break;
    literal += take(cursor, plainInWord) || readPiece(cursor);
  }
  return cursor.at === start ? undefined : { literal, isSingleQuoted: cursor.text[start] === "'", at: start };
}

/** The state of an open `case`: before `in`, in a pattern, or in a pattern's commands. */
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
const operators = /&>>|;;&|;;|;&|&&|\|\||\|&|&>|[&;|\n]/y;
/** Operators that are new in bash 4. dash rejects them too, but bash 5 running as sh accepts them. */
const newOperators = new Set(['&>>', ';;&', ';&', '|&']);
const redirections = /[0-9]*(?:<<-|<<<|<<|<>|<&|>>|>&|>\||<|>)/y;

const emptyCommand = (): SimpleCommand => ({ assignments: [], words: [], targets: [] });

function finish(cursor: Cursor, list: List): void {
  const { assignments, words, targets } = list.command;
  if (assignments.length + words.length + targets.length > 0) cursor.commands.push(list.command);
  list.command = emptyCommand();
}

/** After the newline: skips the bodies of this line's here-documents, which are data. */
function skipHeredocs(cursor: Cursor): void {
  for (const { delimiter, isIndented } of cursor.heredocs.splice(0)) {
    while (!isAtEnd(cursor)) {
      const line = skipPast(cursor, '\n');
      if ((isIndented ? line.replace(/^\t+/, '') : line) === delimiter) break;
    }
  }
}

function takeRedirection(cursor: Cursor, list: List): boolean {
  const operator = take(cursor, redirections).replace(/^[0-9]+/, '');
  if (operator === '') return false;
  if (ahead(cursor, '(')) {
    refuseToken(cursor, '(');
    return true;
  }
  take(cursor, blanks);
  const target = readWord(cursor, list.end);
  if (target === undefined) return true;
  if (operator === '<<' || operator === '<<-') {
    cursor.heredocs.push({ delimiter: target.literal, isIndented: operator === '<<-' });
  } else if (operator !== '<<<') list.command.targets.push(target);
  return true;
}

function takeOperator(cursor: Cursor, list: List): boolean {
  const operator = take(cursor, operators);
  if (operator === '') return false;
  if (newOperators.has(operator)) refuseToken(cursor, operator.slice(-1));
  const open = list.cases.at(-1);
  if (operator.startsWith(';;') && open !== undefined) {
    open.state = 'pattern';
    open.hasParenthesis = false;
  }
  // A newline between `case x` and `in` does not end a command.
  if (open?.state !== 'subject') finish(cursor, list);
  if (operator === '\n') skipHeredocs(cursor);
  return true;
}

/** Handles a parenthesis; true if it ends the whole list. */
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
  if (!open.hasParenthesis && cursor.substitutions > 0) refuseToken(cursor, ';;');
  open.state = 'body';
  list.command = emptyCommand();
}

/** Interprets a word by its position: a reserved word, part of a `case`, an assignment, or a word of a command. */
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

/** Reads and consumes commands up to and including `end`, or to the end of the text. */
function readList(cursor: Cursor, end: End): void {
  const list: List = { end, cases: [], command: emptyCommand() };
  for (;;) {
    take(cursor, blanks);
    if (isAtEnd(cursor) || (end === '`' && ahead(cursor, '`'))) break;
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
 * Parses a shell text into its simple commands, without running or checking them. It follows the POSIX sh grammar as
 * far as needed for quoting, expansions, here-documents, `case` and redirections. A text that is invalid for every
 * shell gives an arbitrary result, never an error. Bodies of here-documents are data.
 */
function readShell(text: string): Pick<Cursor, 'commands' | 'refusals'> {
  const cursor: Cursor = { text, at: 0, commands: [], refusals: [], heredocs: [], substitutions: 0 };
  while (!isAtEnd(cursor)) readList(cursor, undefined);
  return cursor;
}
