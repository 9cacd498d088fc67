import { basename } from 'node:path';
import { shellQuote } from '../../model/node-files.ts';
import type { Source } from '../../tools/tool.ts';

/** Parameters of a wrapper's text, besides the tool. */
export interface WrapperContext {
  /** Absolute path of the same tool on the host machine. */
  readonly host: string;
  /** Whether the host machine is a Mac, so that no translation is needed. */
  readonly isBsd: boolean;
  readonly user: string;
  /**
   * The only folder with the host machine's programs. Set if the node has its own process table, users and network, so
   * that tools need not select the node's own entries.
   */
  readonly programs?: string;
}

/**
 * A macOS tool that runs the host machine's tool with the same name. Only command lines with the same meaning on macOS
 * are allowed, some of them after translation. All others are recorded in `/.sim/unknown` and refused as on macOS.
 */
export interface BaseTool {
  readonly path: string;
  /** Source of the accepted forms and of the usage text. */
  readonly source: Source;
  /** The accepted command lines, for a table in the documentation. */
  readonly forms: string;
  /** Name on the host machine; `none` if the wrapper needs no other program. */
  readonly host: string;
  /** True for a tool that older Macs lack: a host machine without it simulates such Macs. */
  readonly isOptional?: boolean;
  /** Usage text, printed after the message about an invalid option. */
  readonly usage: string;
  readonly code: number;
  /** sh code after the head, which provides `refused` and `$R`. The code ends with exec or exit. */
  readonly body: (context: WrapperContext) => string;
}

type Usual = 'source' | 'host' | 'code';

/** A row in a table of tools. The defaults are the tool's manual page, its own name and exit code 1. */
export type ToolRow = Omit<BaseTool, Usual> & Partial<Pick<BaseTool, Usual>>;

/**
 * The head sets `$R` from the tool's own path without a fork. `refused MESSAGE` appends one line `PATH COUNT:ARGUMENTS`
 * to `/.sim/unknown`, like every simulated tool. It then prints the message and the usage, and exits with macOS's code.
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

export const wrapperText = (tool: BaseTool, context: WrapperContext): string =>
  `${head(tool)}${insideFunctions}${tool.body(context)}\n`;

/**
 * Checks options like getopt(3) on a Mac: only these letters, no options after the first operand, no long options.
 * POSIXLY_CORRECT keeps GNU tools from accepting options after operands. `more` is sh code that runs for each accepted
 * option.
 */
export const checkOptions = (letters: string, more = ''): string => `while getopts ':${letters}' o; do
  case $o in ('?') refused "illegal option -- $OPTARG" ;; (:) refused "option requires an argument -- $OPTARG" ;; esac${more === '' ? '' : `\n  ${more}`}
done`;

/** Checks options by their letters and runs the host machine's tool with the whole command line. */
export const passOptions =
  (letters: string, extra = '') =>
  ({ host }: WrapperContext): string =>
    `${checkOptions(letters)}\n${extra}POSIXLY_CORRECT=1 exec ${shellQuote(host)} "$@"`;
/**
 * sh functions that need no fork, unless the current folder seems to be outside the node's root. `inside PATH ...`
 * exits with 1 if a path leads outside; if the current folder was deleted, the tool itself reports the error.
 * `readable` also allows the devices of the strict shell. `after COUNT FUNCTION ARGUMENT ...` calls the function
 * without the first COUNT arguments. `starts` checks a utility.
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

/** The file names in a command line, for a tool whose options follow getopt(3). */
interface FileOperands {
  /** Options in the form of getopts. */
  readonly letters: string;
  /** Options whose argument is a file. */
  readonly fileOptions?: string;
  /** Set if the first operand is a pattern or program instead of a file, unless one of these options gives it. */
  readonly textUnless?: string;
  /** True for tools that would replace or remove a device. They may not even use /dev/null. */
  readonly isChanging?: boolean;
  /** True for a tool that uses the current folder by default. */
  readonly hasDefault?: boolean;
  /** sh code between the check and the tool. */
  readonly extra?: string;
}

const lettersOf = (letters: string): string => [...letters].join(' | ');

/** Checks options by their letters, and every file in options and operands. */
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

/** Checks options and files, and runs the host machine's tool with the whole command line. */
export const passFiles =
  (files: FileOperands) =>
  ({ host }: WrapperContext): string =>
    `${checkFiles(files)}\n${files.extra ?? ''}POSIXLY_CORRECT=1 exec ${shellQuote(host)} "$@"`;

/** File with the free bytes of the node's disk; if it is missing, there is no limit. */
const roomPath = '/.sim/room';

/** Translates Linux's errors about the file size limit into a Mac's errors about a full disk. */
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
 * sh function `limited COMMAND ...`, which runs the command so that no file can grow beyond the disk's free space. On a
 * full disk, the command fails in the middle and leaves a partial file, as on a real disk. The kernel's limit is in
 * blocks of 512 bytes.
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

/** Like `passFiles`, for a tool that writes much data and fails on a full disk. */
export const passLimited =
  (files: FileOperands) =>
  ({ host }: WrapperContext): string =>
    `${checkFiles(files)}\n${files.extra ?? ''}export POSIXLY_CORRECT=1\n${roomFunctions}limited ${shellQuote(host)} "$@"`;
