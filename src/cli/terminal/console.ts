import { relative, resolve } from 'node:path';
import { stderr, stdout } from 'node:process';
import type { Writable } from 'node:stream';
import { annotationsText } from '../../diagnostics/annotations.ts';
import { firmSpace } from '../../diagnostics/cells.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { asJsonEscapes, escapeText, jsonText } from '../../diagnostics/escape.ts';
import { diagnosticJson } from '../../diagnostics/json.ts';
import { proseText, type Reader } from '../../diagnostics/prose-text.ts';
import { renderDiagnostics } from '../../diagnostics/render.ts';
import type { DiagnosticsDocument, PrintedDocument } from '../../model/documents.generated.ts';
import type { Prose } from '../../model/text/prose.ts';
import { durationText } from '../../model/text/units.ts';
import { forMany } from '../../remote/on-abort.ts';
import { hang, type Page, type Paint, plainPaint, type Tone } from '../../report/page.ts';
import { type LogEvent, printedEvents } from '../files/event-lines.ts';
import type { RunLog } from '../files/run-log.ts';

/** Writes diagnostics for people to stderr. `sources` contains file texts by file name, from which lines are quoted. */
export function showDiagnostics(
  console: Console,
  diagnostics: readonly Diagnostic[],
  sources: Readonly<Record<string, string>> = {},
): void {
  if (diagnostics.length > 0) console.err(diagnosticsText(console, diagnostics, sources, console.hasErrColor));
  annotate(console, diagnostics);
}

/** In GitHub's runner, marks the places of diagnostics in a pull request. Always on stderr, because of `--json`. */
export function annotate(console: Console, diagnostics: readonly Diagnostic[]): void {
  const text = console.repositoryPath && annotationsText(diagnostics, console.repositoryPath, console);
  if (text) console.err(text);
}

/** The path of a shown file in the repository that GitHub's runner has checked out; otherwise undefined. */
export function repositoryPathIn(
  env: Readonly<Record<string, string | undefined>>,
  folder = '.',
): Console['repositoryPath'] {
  if (env['GITHUB_ACTIONS'] !== 'true') return undefined;
  return (file) => {
    const path = relative(env['GITHUB_WORKSPACE'] ?? folder, resolve(folder, file));
    return path.startsWith('..') ? file : path;
  };
}

/** A paragraph for people; wraps everything except commands. */
export const paragraphText = (console: Console, text: Prose, indent = ''): string =>
  `${hang(indent, proseText(text, console, firmSpace), console.columns).join('\n')}\n`;

export function logFindings({ log }: { readonly log?: RunLog | undefined }, diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics) log?.write({ kind: 'finding', diagnostic });
}

export const diagnosticsText = (
  { columns, isSimulated }: Console,
  diagnostics: readonly Diagnostic[],
  sources: Readonly<Record<string, string>>,
  color: boolean,
): string => renderDiagnostics(diagnostics, { sources: new Map(Object.entries(sources)), columns, color, isSimulated });

/** Writes a JSON document and a line break: indented, or in one line after events. Escapes control characters. */
export const showJson = (console: Console, value: PrintedDocument): void =>
  showJsonText(console, `${jsonText(value, console.hasEvents === true ? 0 : 2)}\n`);

/** The result of a command, which is not shown yet. */
export interface Ended<Document extends PrintedDocument = PrintedDocument> {
  readonly exit: number;
  /** Shown with `--json`. */
  readonly document: Document;
  /** Shown to people before the text. */
  readonly problems?: readonly Diagnostic[];
  readonly text: string;
  /** Shown to people after the text. */
  readonly findings?: readonly Diagnostic[];
  /** Written to the log, if any. */
  readonly events?: readonly LogEvent[];
}

/** The part of a command's context with which its result is shown. */
interface Shown {
  readonly console: Console;
  readonly options: { readonly json?: boolean };
  readonly log?: RunLog;
}

/** Shows the result of a command, and returns its exit code. */
export function showEnded({ console, options, log }: Shown, ended: Ended): number {
  const { exit, document, problems = [], text, findings = [], events = [] } = ended;
  for (const event of events) log?.write(event);
  if (options.json) showJson(console, document);
  else {
    showDiagnostics(console, problems);
    if (text !== '') console.out(text);
    showDiagnostics(console, findings);
  }
  return exit;
}

/** Prints an event, with `--events` only. */
export function showEvent(
  { console, options }: { readonly console: Console; readonly options: { readonly events?: boolean } },
  event: LogEvent,
): void {
  if (options.events !== true) return;
  for (const line of printedEvents(event, new Date().toISOString())) showJsonText(console, `${line}\n`);
}

/** Writes a text that is already JSON. */
export function showJsonText(console: Console, text: string): void {
  console.out(console.hasUnicode ? text : asciiJson(text));
}

export const diagnosticsJson = (
  reader: Reader,
  diagnostics: readonly Diagnostic[],
): DiagnosticsDocument['diagnostics'] => diagnostics.map((one) => diagnosticJson(one, reader));

/** Moves the cursor to the first line of the block and clears everything below. */
const over = (height: number): string => (height === 0 ? '' : `\r\u001b[${height}A\u001b[0J`);

/** True if a block can be redrawn on this console. */
export const isLive = ({ isOutTty, canRewrite }: Console): boolean => isOutTty && canRewrite;

/** Returns a function that writes permanent lines and, on a terminal only, redraws a block below them. */
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

const sgr: Readonly<Record<Tone, readonly [number, number]>> = {
  good: [32, 39],
  bad: [31, 39],
  warn: [33, 39],
  dim: [2, 22],
  strong: [1, 22],
};

/** Colors texts for a terminal, or leaves them unchanged. */
export function paintFor(hasColor: boolean): Paint {
  if (!hasColor) return plainPaint;
  return (tone, text) => `\u001b[${sgr[tone][0]}m${text}\u001b[${sgr[tone][1]}m`;
}

const fewestColumns = 20;

/** The page of this console; never narrower than 20 columns. */
export const pageFor = (console: Pick<Console, 'columns' | 'hasUnicode' | 'hasColor' | 'isSimulated'>): Page => ({
  columns: Math.max(fewestColumns, console.columns),
  unicode: console.hasUnicode,
  paint: paintFor(console.hasColor),
  isSimulated: console.isSimulated,
});

/** A command's output and its reader's capabilities; tests provide their own. */
export interface Console extends Reader {
  /** Writes the result: text for people, or one JSON document. */
  out(text: string): void;
  /** Writes everything else: diagnostics, progress, notes. */
  err(text: string): void;
  /** Aborted when stdout can no longer be written, for example after `| head` or when the disk is full. */
  readonly outClosed: AbortSignal;
  readonly isOutTty: boolean;
  readonly isErrTty: boolean;
  /** True if stdin and stderr are a terminal, so that a command can ask questions. */
  readonly canAsk: boolean;
  /** True if a line on stderr can be overwritten. */
  readonly canRewrite: boolean;
  /** The page width: from the terminal, otherwise `COLUMNS`, otherwise 80. */
  readonly columns: number;
  /** True if stdout can be colored. */
  readonly hasColor: boolean;
  /** True if stderr can be colored. */
  readonly hasErrColor: boolean;
  /** False if the locale is not UTF-8; only ASCII is then written. */
  readonly hasUnicode: boolean;
  /** True with `--events`: every document and event is one line. */
  readonly hasEvents?: boolean;
  /** In GitHub's runner: the path in the repository of a file that a diagnostic names. */
  readonly repositoryPath?: ((file: string) => string) | undefined;
  /** Set while lines are redrawn in place; shows the text of `err` below these lines. */
  drawing?: ((text: string) => void) | undefined;
}

/** The parts of the environment that determine the look of a console. */
export interface ConsoleTraits {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True if `--no-color` was given. */
  readonly noColor: boolean;
  readonly isOutTty: boolean;
  readonly isErrTty: boolean;
  /** The width that the terminal reports; can be 0 or undefined. */
  readonly terminalColumns: number | undefined;
}

/** The console properties that depend on the environment. `NO_COLOR`, `TERM=dumb` and `--no-color` disable color. */
export function consoleCapabilities(
  about: ConsoleTraits,
): Pick<Console, 'columns' | 'canRewrite' | 'hasColor' | 'hasErrColor' | 'hasUnicode'> {
  const { env, noColor, isOutTty, isErrTty } = about;
  const isDumb = env['TERM'] === 'dumb';
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  const mayColor = !noColor && !isDumb && !env['NO_COLOR'];
  return {
    columns: pageColumns(isOutTty ? about.terminalColumns : undefined, env['COLUMNS']),
    canRewrite: isErrTty && !isDumb,
    hasColor: mayColor && isOutTty,
    hasErrColor: mayColor && isErrTty,
    hasUnicode: /utf-?8/i.test(locale) && !isDumb,
  };
}

const usualColumns = 80;

function pageColumns(terminal: number | undefined, fromEnv: string | undefined): number {
  if (terminal !== undefined && terminal > 0) return terminal;
  return fromEnv !== undefined && /^[1-9][0-9]{0,3}$/.test(fromEnv) ? Number(fromEnv) : usualColumns;
}

type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** The streams of a process; tests provide their own. */
export interface Streams {
  readonly stdin: { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
}

export function processConsole(
  env: NodeJS.ProcessEnv,
  about: {
    readonly noColor: boolean;
    readonly isSimulated: boolean;
    readonly hasEvents: boolean;
    readonly folder?: string | undefined;
  },
  { stdin, stdout, stderr }: Streams,
): Console {
  const { noColor, isSimulated, hasEvents, folder } = about;
  const closed = new AbortController();
  stdout.on('error', (error) => {
    endOfOutput(error);
    closed.abort();
  });
  stderr.on('error', () => undefined);
  const isOutTty = stdout.isTTY === true;
  const isErrTty = stderr.isTTY === true;
  const traits = consoleCapabilities({ env, noColor, isOutTty, isErrTty, terminalColumns: stdout.columns });
  const shown = traits.hasUnicode ? (text: string): string => text : asciiText;
  const console: Console = {
    ...traits,
    isSimulated,
    hasEvents,
    repositoryPath: repositoryPathIn(env, folder),
    out: (text) => void stdout.write(shown(text)),
    err: (text) => {
      // Text between two drawings would shift the lines that the next drawing clears.
      if (console.drawing === undefined) stderr.write(shown(text));
      else console.drawing(shown(text).trim());
    },
    outClosed: forMany(closed.signal),
    isOutTty,
    isErrTty,
    canAsk: stdin.isTTY === true && isErrTty,
  };
  return console;
}

/** Ignores a reader that closes the output early, such as `| head`. Any other error loses output. */
function endOfOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') return;
  stderr.write(`meshwright: cannot write the output: ${error.message}\n`);
  process.once('exit', () => {
    process.exitCode = process.exitCode || 1;
  });
}

/** The number of bytes that the reader of stdout has not accepted yet. */
export const waitingBytes = (): number => stdout.writableLength;

/** Resolves when all output has left this process, because the reader of a pipe can be slow. */
export async function outputWritten(): Promise<void> {
  for (const stream of [stdout, stderr]) {
    if (stream.writableLength > 0) await new Promise<void>((resolve) => stream.write('', () => resolve()));
  }
}
const substitutes: Readonly<Record<string, string>> = { '·': '.', '→': '->', '±': '+-', '…': '...', '✔': 'ok' };

/** Text for a terminal without UTF-8. Our own symbols become ASCII; other characters become codes such as `\u{fc}`. */
export function asciiText(text: string): string {
  return text.replace(
    /\P{ASCII}/gu,
    (found) => substitutes[found] ?? `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** An equivalent JSON document in ASCII. */
export function asciiJson(text: string): string {
  return text.replace(/[^\p{ASCII}]/gu, asJsonEscapes);
}

const clearLine = '\r\u001b[K';

const drawLine = (console: Console, line: string): void =>
  console.err(console.canRewrite ? `${clearLine}${line}` : `${line}\n`);

const firstWordAfterMs = 2_000;
/** The longest silence of a running command on a pipe. */
const longestSilenceMs = 5_000;

/**
 * Runs `work`. After two seconds, shows a line on stderr: a terminal redraws it every second, otherwise it is printed
 * every five seconds. Without a text, no line is shown.
 */
export async function withLine<T>(
  console: Console,
  lineAt: (seconds: number) => string | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const startedAtMs = performance.now();
  let isShown = false;
  const say = (): void => {
    const line = lineAt(Math.round((performance.now() - startedAtMs) / 1_000));
    if (line === undefined) return;
    drawLine(console, line);
    isShown = true;
  };
  let every: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    say();
    every = setInterval(say, console.canRewrite ? 1_000 : longestSilenceMs);
    every.unref();
  }, firstWordAfterMs);
  first.unref();
  try {
    return await work();
  } finally {
    clearTimeout(first);
    clearInterval(every);
    if (isShown && console.canRewrite) console.err(clearLine);
  }
}

/**
 * Runs `work`, and shows what it still waits for ({@link withLine}). `what` is a participle such as `observing`; `work`
 * reports each finished item.
 */
export async function withProgress<T>(
  console: Console,
  [what, awaited]: readonly [what: string | (() => string), awaited: readonly { readonly name: string }[]],
  work: (done: (name: string) => void) => Promise<T>,
): Promise<T> {
  const waiting = new Set(awaited.map(({ name }) => name));
  const lineAt = (seconds: number): string | undefined =>
    waiting.size === 0
      ? undefined
      : progressLine(typeof what === 'string' ? what : what(), {
          total: awaited.length,
          waiting: [...waiting],
          seconds,
          columns: console.canRewrite ? console.columns : Number.POSITIVE_INFINITY,
        });
  return withLine(console, lineAt, () => work((name) => void waiting.delete(name)));
}

/** A line on stderr. On a terminal every call redraws it; otherwise it is printed every five seconds. */
export function showWait(console: Console) {
  let shownAtMs: number | undefined;
  return {
    /** Shows the unmet conditions and the remaining time. */
    show: (missing: readonly string[], leftMs: number): void => {
      const nowMs = performance.now();
      if (!console.canRewrite && shownAtMs !== undefined && nowMs - shownAtMs < longestSilenceMs) return;
      shownAtMs = nowMs;
      const text = `${durationText(Math.max(0, leftMs))} left: waiting for ${escapeText(missing.join(', '))}`;
      drawLine(console, console.canRewrite ? cut(text, console.columns) : text);
    },
    /** Clears the line. Can be called at any time. */
    end: (): void => {
      if (shownAtMs !== undefined && console.canRewrite) console.err(clearLine);
      shownAtMs = undefined;
    },
  };
}

const cut = (text: string, columns: number): string =>
  text.length < columns ? text : `${text.slice(0, Math.max(0, columns - 4))}...`;

const mostNames = 20;

/** One progress line with as many whole names as fit into the terminal. */
export function progressLine(
  what: string,
  at: {
    readonly total: number;
    readonly waiting: readonly string[];
    readonly seconds: number;
    readonly columns: number;
  },
): string {
  const { total, waiting, seconds, columns } = at;
  const names = (count: number): string =>
    `${waiting.slice(0, count).join(', ')}${count < waiting.length ? ` and ${waiting.length - count} more` : ''}`;
  const head = `${what}: ${total - waiting.length} of ${total} done after ${seconds} s, waiting for`;
  for (let count = Math.min(waiting.length, mostNames); count > 0; count -= 1) {
    const text = `${head} ${names(count)}`;
    if (text.length < columns) return text;
  }
  return cut(`${what}, ${seconds} s: ${names(1)}`, columns);
}
