import { setMaxListeners } from 'node:events';
import { stderr, stdin, stdout } from 'node:process';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText, jsonText } from '../../diagnostics/escape.ts';
import { diagnosticJson } from '../../diagnostics/json.ts';
import type { Reader } from '../../diagnostics/prose-text.ts';
import { renderDiagnostics } from '../../diagnostics/render.ts';
import type { DiagnosticsDocument, PrintedDocument } from '../../model/documents.generated.ts';
import { durationText } from '../../model/text/units.ts';
import type { Page } from '../../report/page.ts';
import type { RunLog } from '../files/run-log.ts';

/** Writes diagnostics for people to the error stream; `sources` are file texts by file name, for the underlined line. */
export function showDiagnostics(
  console: Console,
  diagnostics: readonly Diagnostic[],
  sources: Readonly<Record<string, string>> = {},
): void {
  if (diagnostics.length > 0) console.err(diagnosticsText(console, diagnostics, sources, console.hasErrColor));
}

/** Writes what a verb reports as wrong into its log, if it has one. */
export function logFindings({ log }: { readonly log?: RunLog | undefined }, diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics) log?.write({ kind: 'finding', diagnostic });
}

/** Writes diagnostics where they are the answer itself, as those of a judged file are. */
export function answerDiagnostics(
  console: Console,
  diagnostics: readonly Diagnostic[],
  sources: Readonly<Record<string, string>>,
): void {
  if (diagnostics.length > 0) console.out(diagnosticsText(console, diagnostics, sources, console.hasColor));
}

const diagnosticsText = (
  { columns, isSimulated }: Console,
  diagnostics: readonly Diagnostic[],
  sources: Readonly<Record<string, string>>,
  color: boolean,
): string => renderDiagnostics(diagnostics, { sources: new Map(Object.entries(sources)), columns, color, isSimulated });

/** Writes one JSON document, two blanks deep, with a line end; what a terminal would obey is escaped. */
export function showJson(console: Console, value: PrintedDocument): void {
  if (console.keep === undefined) showJsonText(console, `${jsonText(value)}\n`);
  else console.keep(value);
}

/** Writes a text that is JSON already. */
export function showJsonText(console: Console, text: string): void {
  console.out(console.hasUnicode ? text : asciiJson(text));
}

/** Diagnostics as they stand in every JSON answer. */
export const diagnosticsJson = (
  reader: Reader,
  diagnostics: readonly Diagnostic[],
): DiagnosticsDocument['diagnostics'] => diagnostics.map((one) => diagnosticJson(one, reader));

/** Moves the cursor up to the first line of the block, and clears from there on. */
const over = (height: number): string => (height === 0 ? '' : `\r\u001b[${height}A\u001b[0J`);

/** Whether a block can be written over on this console. */
export const isLive = ({ isOutTty, canRewrite }: Console): boolean => isOutTty && canRewrite;

/**
 * Lines that stay, with a block below them on the answer's own stream that is written over when it changes: what this gives
 * writes the lines, then the block; without a terminal the lines only.
 */
export function liveBlock(console: Console): (lines: readonly string[], block: readonly string[]) => void {
  let height = 0;
  let shown = '';
  const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
  return (lines, block) => {
    if (!isLive(console)) {
      console.out(text(lines));
      return;
    }
    const next = text(block);
    if (lines.length === 0 && next === shown) return;
    console.out(`${over(height)}${text(lines)}${next}`);
    height = block.length;
    shown = next;
  };
}

/** How a piece of text is meant; colour only repeats what the words already say. */
type Tone = 'good' | 'bad' | 'warn' | 'dim' | 'strong';

const sgr: Readonly<Record<Tone, readonly [number, number]>> = {
  good: [32, 39],
  bad: [31, 39],
  warn: [33, 39],
  dim: [2, 22],
  strong: [1, 22],
};

/** A painter for the terminal, or one that leaves every text as it is. */
export function paintFor(hasColor: boolean): (tone: Tone, text: string) => string {
  if (!hasColor) return (_tone, text) => text;
  return (tone, text) => `\u001b[${sgr[tone][0]}m${text}\u001b[${sgr[tone][1]}m`;
}

/** The page of an answer on this console. */
export const pageFor = ({ columns, hasUnicode, hasColor, isSimulated }: Console): Page => ({
  columns,
  unicode: hasUnicode,
  paint: paintFor(hasColor),
  isSimulated,
});

/** Where a verb writes and what it may assume about the reader; tests give their own. */
export interface Console extends Reader {
  /** The answer: text for people, or one JSON document. */
  out(text: string): void;
  /** Everything else: diagnostics, progress, notes. */
  err(text: string): void;
  /** Set for a program: takes the document of the answer instead of its text. */
  readonly keep?: (document: PrintedDocument) => void;
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
const substitutes: Readonly<Record<string, string>> = { '·': '.', '→': '->', '±': '+-', '…': '...', '✔': 'ok' };

/**
 * Text for a terminal that is not UTF-8: our own signs have a form in ASCII, and every other character stands as its
 * code, as in `\u{fc}`.
 */
export function asciiText(text: string): string {
  return text.replace(
    /\P{ASCII}/gu,
    (found) => substitutes[found] ?? `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** A JSON document in ASCII; the same document for every reader of JSON. */
export function asciiJson(text: string): string {
  return text.replace(/[^\p{ASCII}]/gu, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  );
}

const firstWordAfterMs = 2_000;

/**
 * Does some work, and says what it waits for once it takes longer than two seconds, on the error stream: on a terminal one
 * line that is rewritten every second, elsewhere one line every ten seconds. `what` is a present participle: `observing`;
 * `work` says of each of the awaited things that it is done.
 */
export async function withProgress<T>(
  console: Console,
  [what, awaited]: readonly [what: string, awaited: readonly { readonly name: string }[]],
  work: (done: (name: string) => void) => Promise<T>,
): Promise<T> {
  const waiting = new Set(awaited.map(({ name }) => name));
  const startedAtMs = performance.now();
  let isShown = false;
  const say = (): void => {
    if (waiting.size === 0) return;
    const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
    const line = progressLine(what, {
      total: awaited.length,
      waiting: [...waiting],
      seconds,
      columns: console.columns,
    });
    console.err(console.canRewrite ? `\r\u001b[K${line}` : `${line}\n`);
    isShown = true;
  };
  let every: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    say();
    every = setInterval(say, console.canRewrite ? 1_000 : 10_000);
    every.unref();
  }, firstWordAfterMs);
  first.unref();
  try {
    return await work((name) => void waiting.delete(name));
  } finally {
    clearTimeout(first);
    clearInterval(every);
    if (isShown && console.canRewrite) console.err('\r\u001b[K');
  }
}

/** Says what a wait is for and how long it may still take. */
interface WaitLine {
  readonly show: (missing: readonly string[], leftMs: number) => void;
  /** Leaves the terminal as it was. May be called at any time. */
  readonly end: () => void;
}

/** One line on the error stream: rewritten at each look on a terminal, elsewhere repeated every ten seconds. */
export function showWait(console: Console): WaitLine {
  let shownAtMs: number | undefined;
  return {
    show: (missing, leftMs) => {
      const nowMs = performance.now();
      if (!console.canRewrite && shownAtMs !== undefined && nowMs - shownAtMs < 10_000) return;
      shownAtMs = nowMs;
      const text = cut(
        `${durationText(Math.max(0, leftMs))} left: waiting for ${escapeText(missing.join(', '))}`,
        console.columns,
      );
      console.err(console.canRewrite ? `\r\u001b[K${text}` : `${text}\n`);
    },
    end: () => {
      if (shownAtMs !== undefined && console.canRewrite) console.err('\r\u001b[K');
      shownAtMs = undefined;
    },
  };
}

const cut = (text: string, columns: number): string =>
  text.length < columns ? text : `${text.slice(0, Math.max(0, columns - 4))}...`;

/** The text of one progress line, cut to the width of the terminal. */
export function progressLine(
  what: string,
  at: {
    readonly total: number;
    readonly waiting: readonly string[];
    readonly seconds: number;
    readonly columns: number;
  },
): string {
  const done = at.total - at.waiting.length;
  const text = `${what}: ${done} of ${at.total} done after ${at.seconds} s, waiting for ${at.waiting.join(', ')}`;
  return cut(text, at.columns);
}
