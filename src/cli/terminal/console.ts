import { setMaxListeners } from 'node:events';
import { stderr, stdin, stdout } from 'node:process';
import type { Reader } from '../../diagnostics/prose-text.ts';
import { asciiText } from './ascii.ts';

/** Where a verb writes and what it may assume about the reader; tests give their own. */
export interface Console extends Reader {
  /** The answer: text for people, or one JSON document. */
  out(text: string): void;
  /** Everything else: diagnostics, progress, notes. */
  err(text: string): void;
  /** Aborted when the answer reaches nobody any more: `| head` has seen enough, or its disk is full. */
  readonly outClosed: AbortSignal;
  readonly isOutTty: boolean;
  readonly isErrTty: boolean;
  /** Both ends are a terminal: only then may a verb ask. */
  readonly canAsk: boolean;
  /** Whether a line of the error stream may be written over. */
  readonly canRewrite: boolean;
  /** Width of the page in columns: of the terminal, else `COLUMNS`, else 80. */
  readonly columns: number;
  /** Whether the answer may be coloured. */
  readonly hasColor: boolean;
  /** The same for the error stream. */
  readonly hasErrColor: boolean;
  /** False when the locale is not UTF-8: then nothing but ASCII is written. */
  readonly hasUnicode: boolean;
  /** Set while lines of the terminal are rewritten in place: shows what `err` is given below them. */
  drawing?: ((text: string) => void) | undefined;
}

/** What of the surroundings decides how a console looks. */
export interface ConsoleTraits {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--no-color` was given. */
  readonly noColor: boolean;
  readonly isOutTty: boolean;
  readonly isErrTty: boolean;
  /** Width that the terminal says it has, which may be 0 or nothing at all. */
  readonly terminalColumns: number | undefined;
}

/** The parts of a console that follow from the environment. `NO_COLOR`, `TERM=dumb` and `--no-color` end colour. */
export function consoleLook(
  traits: ConsoleTraits,
): Pick<Console, 'columns' | 'canRewrite' | 'hasColor' | 'hasErrColor' | 'hasUnicode'> {
  const { env, noColor, isOutTty, isErrTty } = traits;
  const isDumb = env['TERM'] === 'dumb';
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  const mayColor = !noColor && !isDumb && !env['NO_COLOR'];
  return {
    columns: pageColumns(isOutTty ? traits.terminalColumns : undefined, env['COLUMNS']),
    canRewrite: isErrTty && !isDumb,
    hasColor: mayColor && isOutTty,
    hasErrColor: mayColor && isErrTty,
    hasUnicode: /utf-?8/i.test(locale) && !isDumb,
  };
}

const usualColumns = 80;

function pageColumns(terminal: number | undefined, told: string | undefined): number {
  if (terminal !== undefined && terminal > 0) return terminal;
  return told !== undefined && /^[1-9][0-9]{0,3}$/.test(told) ? Number(told) : usualColumns;
}

/** The console of this process. */
export function processConsole(
  env: NodeJS.ProcessEnv,
  { noColor, isSimulated }: { readonly noColor: boolean; readonly isSimulated: boolean },
): Console {
  const closed = new AbortController();
  // As many may listen as there are nodes.
  setMaxListeners(0, closed.signal);
  stdout.on('error', (error) => {
    endOfOutput(error);
    closed.abort();
  });
  stderr.on('error', () => undefined);
  const isOutTty = stdout.isTTY === true;
  const isErrTty = stderr.isTTY === true;
  const look = consoleLook({ env, noColor, isOutTty, isErrTty, terminalColumns: stdout.columns });
  const shown = look.hasUnicode ? (text: string): string => text : asciiText;
  const console: Console = {
    ...look,
    isSimulated,
    out: (text) => void stdout.write(shown(text)),
    err: (text) => {
      // Text between two drawings would be erased in place of the lines above it.
      if (console.drawing === undefined) stderr.write(shown(text));
      else console.drawing(shown(text).trim());
    },
    outClosed: closed.signal,
    isOutTty,
    isErrTty,
    canAsk: stdin.isTTY === true && isErrTty,
  };
  return console;
}

/** `| head` closes our output early: that is the reader's right. A full disk is not, and the answer is then lost. */
function endOfOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') return;
  stderr.write(`meshwright: the answer could not be written: ${error.message}\n`);
  process.once('exit', () => {
    process.exitCode = process.exitCode || 1;
  });
}

/** How many bytes of the answer its reader has not taken yet. */
export const waitingBytes = (): number => stdout.writableLength;

/** Ends when everything that was written has left this process; a reader of a pipe may be slower than we are. */
export async function outputWritten(): Promise<void> {
  for (const stream of [stdout, stderr]) {
    if (stream.writableLength > 0) await new Promise<void>((resolve) => stream.write('', () => resolve()));
  }
}
