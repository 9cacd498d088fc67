import type { Source } from '../../tools/source.ts';
import { insideFunctions } from './inside-functions.ts';

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
  /** Name on the machine; `none` when the wrapper needs no other program; otherwise the tool's own. */
  readonly host?: string;
  /** What is printed after the complaint about an option, and with which code. */
  readonly usage: { readonly text: string; readonly code: number };
  /** sh after the head; `refused` and `$R` are there. Ends by exec or exit. */
  readonly body: (context: WrapperContext) => string;
}

/** One word of sh that means exactly this text. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/**
 * `$R` from the tool's own path without a fork; `refused MESSAGE` leaves one line `PATH COUNT:ARGUMENTS` in
 * `/.sim/unknown`, as every simulated tool does, prints the message and the usage, and ends with macOS's code.
 */
function head(tool: BaseTool): string {
  const name = nameOf(tool.path);
  return `#!/bin/sh
R=\${0%${shellQuote(tool.path)}}
l=$#:$*
case $l in (*'
'*) l="$#:(arguments with a line break)" ;; esac
refused() {
  printf '%s\\n' ${shellQuote(tool.path)}" $l" >>"$R/.sim/unknown"
  [ -z "$1" ] || printf '%s: %s\\n' ${shellQuote(name)} "$1" >&2
  printf '%s\\n' ${shellQuote(tool.usage.text)} >&2
  exit ${tool.usage.code}
}
`;
}

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
