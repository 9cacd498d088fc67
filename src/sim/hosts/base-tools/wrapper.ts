import { basename } from 'node:path';
import type { Source } from '../../tools/tool.ts';

/** What the text of a wrapper depends on besides the tool. */
export interface WrapperContext {
  /** Absolute path of the same tool on the machine below the simulator. */
  readonly host: string;
  /** True when that machine is a Mac: then nothing needs translating. */
  readonly isBsd: boolean;
  /** The ssh user of the node. */
  readonly user: string;
  /**
   * True where the node has a process table, users and a network of its own: then tools need not be told what belongs
   * to it. They find the programs of the machine below in this folder alone.
   */
  readonly programs?: string;
}

/**
 * A tool of macOS that is carried out by the machine's own tool of that name. Only command lines that mean the same
 * on macOS get through (some after translation); the rest is written to `/.sim/unknown` and refused as macOS would.
 */
export interface BaseTool {
  /** As a Mac knows it. */
  readonly path: string;
  /** Where the accepted forms and the usage text come from. */
  readonly source: Source;
  /** Command lines that get through, for people: the table in the documentation. */
  readonly forms: string;
  /** Name on the machine; `none` when the wrapper needs no other program. */
  readonly host: string;
  /** What is printed after the complaint about an option, and with which code. */
  readonly usage: string;
  readonly code: number;
  /** sh after the head; `refused` and `$R` are there. Ends by exec or exit. */
  readonly body: (context: WrapperContext) => string;
}

type Usual = 'source' | 'host' | 'code';

/** A tool as a table has it: what a row leaves out is its manual page, its own name and code 1. */
export type ToolRow = Omit<BaseTool, Usual> & Partial<Pick<BaseTool, Usual>>;

/** One word of sh that means exactly this text. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * `$R` from the tool's own path without a fork; `refused MESSAGE` leaves one line `PATH COUNT:ARGUMENTS` in
 * `/.sim/unknown`, as every simulated tool does, prints the message and the usage, and ends with macOS's code.
 */
const head = ({ path, usage, code }: BaseTool): string => `#!/bin/sh
R=\${0%${shellQuote(path)}}
l=$#:$*
case $l in (*'
'*) l="$#:(arguments with a line break)" ;; esac
refused() {
  printf '%s\\n' ${shellQuote(path)}" $l" >>"$R/.sim/unknown"
  [ -z "$1" ] || printf '%s: %s\\n' ${shellQuote(basename(path))} "$1" >&2
  printf '%s\\n' ${shellQuote(usage)} >&2
  exit ${code}
}
`;

/** The whole wrapper. */
export const wrapperText = (tool: BaseTool, context: WrapperContext): string =>
  `${head(tool)}${insideFunctions}${tool.body(context)}\n`;

/**
 * Checks options as getopt(3) of a Mac does: only these letters, none after the first operand, no long ones. GNU
 * would also look for options behind the operands; POSIXLY_CORRECT ends that. `more` is sh for each accepted option.
 */
export const checkOptions = (letters: string, more = ''): string => `while getopts ':${letters}' o; do
  case $o in ('?') refused "illegal option -- $OPTARG" ;; (:) refused "option requires an argument -- $OPTARG" ;; esac${more === '' ? '' : `\n  ${more}`}
done`;

/** Checks options by their letters and hands the whole command line to the machine's tool. */
export const passOptions =
  (letters: string, extra = '') =>
  ({ host }: WrapperContext): string =>
    `${checkOptions(letters)}\n${extra}POSIXLY_CORRECT=1 exec ${shellQuote(host)} "$@"`;
/**
 * Functions of sh, without a fork unless the current folder seems to lie outside: `inside PATH ...` ends the tool
 * with 1 when a path leads out of the node's root (a current folder that is gone leads nowhere, which the tool itself
 * will say), `readable` also takes the devices of the strict shell,
 * `after COUNT FUNCTION ARGUMENT ...` applies one of them behind so many arguments, `starts` checks a utility.
 */
const insideFunctions = `outside() {
  printf '%s\\n' "\${0#"$R"} $l" >>"$R/.sim/unknown"
  printf '%s: %s: %s\\n' "\${0##*/}" "$1" "simulated: below this node's root only" >&2
  exit 1
}
here() {
  case $PWD in ("$R" | "$R"/*) return ;; esac
  q=$(CDPATH= cd -- "$R" && pwd -P)
  p=$(pwd -P 2>/dev/null)
  case $p/ in (/ | "$q"/*) ;; (*) outside "$1" ;; esac
}
inside() {
  for q; do
    case /\${q#"$R"/}/ in (*/../*) outside "$q" ;; esac
    case $q in ("$R" | "$R"/* | -) ;; (/*) outside "$q" ;; (*) here "$q" ;; esac
  done
}
readable() {
  for q; do
    case $q in (/dev/null | /dev/zero | /dev/random | /dev/urandom | /dev/stdout | /dev/stderr) ;; (*) inside "$q" ;; esac
  done
}
after() {
  [ $# -gt $(($1 + 2)) ] || return 0
  z=$2
  shift $(($1 + 2))
  "$z" "$@"
}
starts() {
  while :; do
    case \${1-} in
      (PATH=*) v=\${1#PATH=}
        while [ -n "$v" ]; do
          inside "\${v%%:*}"
          case $v in (*:*) v=\${v#*:} ;; (*) v= ;; esac
        done
        bare= ; shift ;;
      (*=*) shift ;;
      (*/*) inside "$1"; return ;;
      (?*) [ -z "\${bare-}" ] || outside "$1"; return ;;
      (*) return 0 ;;
    esac
  done
}
`;

/** What of a command line names files, for a tool that takes options as getopt(3) has it. */
interface FileOperands {
  /** Options as getopts wants them. */
  readonly letters: string;
  /** Options whose argument is a file. */
  readonly fileOptions?: string;
  /** Whether the first operand is no file but a pattern or a program, unless one of these options gives it. */
  readonly textUnless?: string;
  /** True for tools that would replace or remove a device: then not even /dev/null is taken. */
  readonly isChanging?: boolean;
  /** True for a tool that takes the current folder when it is given nothing. */
  readonly hasDefault?: boolean;
  /** sh between the check and the tool. */
  readonly extra?: string;
}

const lettersOf = (letters: string): string => [...letters].join(' | ');

/** Checks options by their letters and every file that is named by them or behind them. */
export function checkFiles({ letters, fileOptions = '', textUnless, isChanging, hasDefault }: FileOperands): string {
  const check = isChanging === true ? 'inside' : 'readable';
  const arms = [
    ...(fileOptions === '' ? [] : [`(${lettersOf(fileOptions)}) ${check} "$OPTARG" ;;`]),
    ...(textUnless === undefined || textUnless === '' ? [] : [`(${lettersOf(textUnless)}) k=0 ;;`]),
  ];
  const first = arms.map((arm) => `case $o in ${arm} esac`).join('; ');
  return `k=${textUnless === undefined ? 0 : 1}
${checkOptions(letters, first)}
${hasDefault === true ? '[ $# -ge "$OPTIND" ] || inside .\n' : ''}after $((OPTIND - 1 + k)) ${check} "$@"`;
}

/** Checks options and files, and hands the whole command line to the machine's tool. */
export const passFiles =
  (files: FileOperands) =>
  ({ host }: WrapperContext): string =>
    `${checkFiles(files)}\n${files.extra ?? ''}POSIXLY_CORRECT=1 exec ${shellQuote(host)} "$@"`;

/** How many bytes still fit on the disk of the node; without the file as many as anybody likes. */
const roomPath = '/.sim/room';

/** What Linux says of a file that may not grow, and what a Mac says of a full disk. */
const words = [
  's/^[/][^ :]*[/]\\([a-z0-9]*\\): /\\1: /',
  "s/^cp: error writing '\\(.*\\)': File too large/cp: \\1: No space left on device/",
  "s/^cp: error copying '.*' to '\\(.*\\)': File too large/cp: \\1: No space left on device/",
  's/^cat: .*: File too large/cat: stdout: No space left on device/',
  's/^tar: \\(.*\\): Wrote only .*/\\1: Write failed: No space left on device/',
  's/^tar: \\(.*\\): Cannot write: File too large/\\1: Write failed: No space left on device/',
  's/File too large/No space left on device/',
];

/**
 * Functions of sh: `limited COMMAND ...` becomes the command, or, while the disk of the node is full, runs it so that no
 * file can grow beyond the room that is left. Then it fails in the middle, as on a full disk, and leaves what fitted.
 * A limit of the kernel counts in blocks of 512 bytes.
 */
export const roomFunctions = `limited() {
  [ -e "$R${roomPath}" ] || exec "$@"
  m=0
  read -r m <"$R${roomPath}"
  trap '' XFSZ
  exec 3>&1
  y=$( (ulimit -f $((m / 512)); exec "$@") 2>&1 >&3)
  z=$?
  [ -z "$y" ] || printf '%s\\n' "$y" | command -p sed ${words.map((one) => `-e ${shellQuote(one)}`).join(' ')} >&2
  exit "$z"
}
`;

/** As `passFiles`, for a tool that writes much: a full disk ends it. */
export const passLimited =
  (files: FileOperands) =>
  ({ host }: WrapperContext): string =>
    `${checkFiles(files)}\n${files.extra ?? ''}export POSIXLY_CORRECT=1\n${roomFunctions}limited ${shellQuote(host)} "$@"`;
