import { type Refusal, readShell, type ShellWord, type SimpleCommand } from './shell-reader.ts';

/** Why a Mac would not run this text, or why only the simulator's Linux would. */
export interface Objection {
  /** What the shell says on standard error. */
  readonly text: string;
  readonly code: number;
}

/**
 * Folders that exist on a Mac or on the machine below the simulator. A path into one of them that lacks the node's
 * root would leave the simulated Mac without a word: the tool of the machine itself would answer.
 */
const systemFolder =
  /^\/(bin|sbin|usr|etc|var|tmp|private|Library|System|Users|Applications|Volumes|opt|dev|proc|sys|home|root|run|cores)(\/|$)/;
const nestingLimit = 8;
const inputLimit = 1_048_576;

interface Place {
  readonly root: string;
  readonly depth: number;
}

const isInside = (path: string, root: string): boolean => path === root || path.startsWith(`${root}/`);

/**
 * Devices that are the same on both systems. /dev/stdin and /dev/fd would be as well, but to open the FIFO behind
 * them blocks once the client has ended its input; `cat` and `<&0` need neither.
 */
const device = /^\/dev\/(null|zero|random|urandom|stdout|stderr)$/;

const isAllowed = (path: string, { root }: Place): boolean => device.test(path) || isInside(path, root);

/** Data in single quotes is left alone, unless the place says that it is a path whatever the quotes. */
function isOutside(word: ShellWord, place: Place, isPathAnyway: boolean): boolean {
  if (word.isSingleQuoted && !isPathAnyway) return false;
  return systemFolder.test(word.literal) && !isAllowed(word.literal, place);
}

/** Whether a command or a redirection would leave the root: any absolute path but the allowed, and a way upwards. */
const leavesRoot = (path: string, place: Place): boolean =>
  (path.startsWith('/') && !isAllowed(path, place)) || path.split('/').includes('..');

const notFound = (path: string, line: number): Objection => ({
  text: `sh: line ${line}: ${path}: No such file or directory (simulated: below this node's root only)`,
  code: 127,
});

const assignedWord = (assignment: ShellWord): ShellWord => {
  const at = assignment.literal.indexOf('=');
  return { ...assignment, literal: assignment.literal.slice(at + 1) };
};

/** Words before the command itself that change nothing about what is run. */
const transparent = new Set(['exec', 'command', 'nohup', 'builtin']);

function commandWords(command: SimpleCommand): readonly ShellWord[] {
  const start = command.words.findIndex((word) => !transparent.has(word.literal));
  return start < 0 ? [] : command.words.slice(start);
}

const baseName = (word: ShellWord | undefined): string => word?.literal.split('/').at(-1) ?? '';
const shells = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh']);

/** Scripts that this command hands to another shell: `sh -c TEXT`, `eval TEXT`, `trap TEXT …`. */
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

/** Builtins of bash 4 and later; the shell of macOS is bash 3.2.57. */
function newBuiltins(command: SimpleCommand): readonly Objection[] {
  const [name, first] = commandWords(command);
  if (name === undefined) return [];
  const where = `sh: line ${name.line}`;
  if (['mapfile', 'readarray', 'coproc'].includes(name.literal)) {
    return [{ text: `${where}: ${name.literal}: command not found`, code: 127 }];
  }
  if (['declare', 'local', 'typeset'].includes(name.literal) && /^-[a-z]*A/.test(first?.literal ?? '')) {
    return [{ text: `${where}: ${name.literal}: -A: invalid option`, code: 2 }];
  }
  if (name.literal === 'printf' && /%[0-9.-]*\(/.test(first?.literal ?? '')) {
    return [{ text: `${where}: printf: \`(': invalid format character`, code: 1 }];
  }
  return [];
}

function refusalOf({ kind, token, line }: Refusal): Objection {
  if (kind === 'bad-substitution') return { text: `sh: line ${line}: ${token}: bad substitution`, code: 1 };
  return { text: `sh: -c: line ${line}: syntax error near unexpected token \`${token}'`, code: 2 };
}

/** `/bin/sh` at the very front is how a client leaves the login shell, whatever that is: macOS has it there. */
const isOuterShell = (word: ShellWord, index: number, place: Place): boolean =>
  place.depth === 0 && index === 0 && word.literal === '/bin/sh';

function outsidePaths(command: SimpleCommand, index: number, place: Place): readonly Objection[] {
  const [name, ...rest] = commandWords(command);
  const wrong: ShellWord[] = [];
  if (name !== undefined && leavesRoot(name.literal, place) && !isOuterShell(name, index, place)) wrong.push(name);
  const asksDirectory = rest.some((word) => baseName(word) === 'dscl') || baseName(name) === 'dscl';
  const isRecord = ({ literal }: ShellWord): boolean => asksDirectory && /^\/(?:Users|Groups)(?:\/|$)/.test(literal);
  wrong.push(...rest.filter((word) => isOutside(word, place, false) && !isRecord(word)));
  wrong.push(...command.targets.filter((word) => leavesRoot(word.literal, place)));
  wrong.push(...command.assignments.map(assignedWord).filter((word) => isOutside(word, place, true)));
  return wrong.map((word) => notFound(word.literal, word.line));
}

function inspect(text: string, place: Place): readonly Objection[] {
  const { commands, refusals } = readShell(text);
  const inner = { ...place, depth: place.depth + 1 };
  return [
    ...refusals.map(refusalOf),
    ...commands.flatMap((command, index) => [
      ...outsidePaths(command, index, place),
      ...newBuiltins(command),
      ...(place.depth < nestingLimit ? innerScripts(command).flatMap((script) => inspect(script, inner)) : []),
    ]),
  ];
}

/**
 * Everything in a received command text that a Mac would refuse or that would leave the simulated Mac, in the order
 * of the text; empty when it may run. Looked at: every command word, redirection target and assignment, and those
 * arguments that are not in single quotes; scripts handed to `sh -c`, `eval` and `trap` in the same way. Left alone:
 * arguments in single quotes and bodies of here-documents, which are data. Allowed without a root: `/dev/null` and its
 * like, and `/bin/sh` as the very first command. A Mac would run the lines before a refused one; the simulator runs nothing.
 *
 * @see bash 3.2.57, as built from Apple's source: refuses a bare `case` pattern inside `$( )`
 */
export const objectionsTo = (text: string, root: string): readonly Objection[] => inspect(text, { root, depth: 0 });

/**
 * A watch over the input of a command that makes a shell read its script from there (`sh -s`), else undefined.
 * The script is already running when it is complete, so its objections are only written down. The first mebibyte
 * counts.
 */
export function createInputWatch(text: string, root: string) {
  const readsScript = readShell(text).commands.some(({ words }) => {
    const shellAt = words.findIndex((word) => shells.has(baseName(word)));
    const after = words.slice(shellAt + 1);
    return shellAt >= 0 && (after.length === 0 || after.some((word) => /^-[a-z]*s$/.test(word.literal)));
  });
  if (!readsScript) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    add: (chunk: Buffer): void => {
      if (size < inputLimit) chunks.push(chunk);
      size += chunk.length;
    },
    /** Of what was read until the end. */
    objections: () => inspect(Buffer.concat(chunks).toString('utf8'), { root, depth: 1 }),
  };
}
