import { type ChildProcess, spawn } from 'node:child_process';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { runCommandLine } from '../../src/cli/run.ts';
import type { Place } from './place.ts';
import { stable, withoutProgress } from './placeholders.ts';

/** The built program. */
export const mainFile = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** The result of a run of the program, without progress lines. */
export interface Ran {
  readonly words: readonly string[];
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Changes to a plain run in the place's folder. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly folder?: string;
  /** When a hung run is killed; several cures in a row take longer than any other run. */
  readonly longestMs?: number;
}

/** Longer than any run on a busy machine, but shorter than the timeout of a test: a hung run is killed first. */
export const longestRunMs = 100_000;

/** The place's environment with changes; undefined removes a variable. */
export function environment(place: Place, changes: RunOptions['env'] = {}): Record<string, string> {
  const all = Object.entries({ ...place.env, ...changes });
  return Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
}

/** Starts a program with piped output and empty input. */
export function runWith(main: string, place: Place, words: readonly string[], options: RunOptions = {}): ChildProcess {
  return spawn(process.execPath, [main, ...words], {
    cwd: options.folder ?? place.folder,
    env: environment(place, options.env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Starts the built program. */
export const start = (place: Place, words: readonly string[], options: RunOptions = {}): ChildProcess =>
  runWith(mainFile, place, words, options);

/** Starts the program with both output streams on one pipe, as `2>&1` does. */
export function startMerged(place: Place, words: readonly string[]): ChildProcess {
  return spawn('/bin/sh', ['-c', 'exec "$@" 2>&1', 'sh', process.execPath, mainFile, ...words], {
    cwd: place.folder,
    env: environment(place),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Waits until a started program exits, by default at most 100 s, and returns its output. */
export function ended(child: ChildProcess, words: readonly string[], longestMs = longestRunMs): Promise<Ran> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
  const timer = setTimeout(() => child.kill('SIGKILL'), longestMs);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      const stderr = withoutProgress(Buffer.concat(err).toString());
      resolve({ words, code, signal, stdout: Buffer.concat(out).toString(), stderr });
    });
  });
}

/** Runs `meshwright WORDS…` to its end. */
export const meshwright = (place: Place, words: readonly string[], options: RunOptions = {}): Promise<Ran> =>
  ended(start(place, words, options), words, options.longestMs);

/** A stream that keeps its text. */
function keptText() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: (): string => Buffer.concat(chunks).toString() };
}

let running: Promise<unknown> = Promise.resolve();

/**
 * Runs `meshwright WORDS…` like {@link meshwright}, but in this process: starting one takes longer than most commands.
 * Commands run one at a time, because each listens for the signals of its process.
 */
export function meshwrightHere(place: Place, words: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const [out, err] = [keptText(), keptText()];
  const streams = { stdin: {}, stdout: out.stream, stderr: err.stream };
  const ran = running.then(async () => {
    const code = await runCommandLine(words, environment(place, options.env), options.folder ?? place.folder, streams);
    return { words, code, signal: null, stdout: out.text(), stderr: withoutProgress(err.text()) };
  });
  running = ran.catch(() => undefined);
  return ran;
}

/** The one JSON document on standard output; fails if there is anything else. */
export function json(ran: Ran): unknown {
  expect(ran.stdout.endsWith('}\n'), `one JSON document: ${ran.stdout.slice(0, 200)}`).toBe(true);
  return JSON.parse(ran.stdout);
}

/** Codes of the diagnostics of a JSON document. */
export function codesOf(document: unknown): readonly string[] {
  const { diagnostics } = document as { readonly diagnostics: readonly { readonly code: string }[] };
  return diagnostics.map((one) => one.code);
}

/** A run as a person sees it, with lines of the error stream marked. */
function transcript(place: Place, ran: Ran): string {
  const err =
    ran.stderr === ''
      ? ''
      : stable(place, ran.stderr)
          .replace(/^(?=.|\n)/gm, '! ')
          .replace(/^! $/gm, '!');
  const typed = `$ meshwright ${ran.words.map(shown).join(' ')}`.trimEnd();
  return `${stable(place, `${typed}\n${ran.stdout}`)}${err.replace(/^!? ?$(?![\s\S])/m, '')}[exit ${ran.code ?? ran.signal}]\n`;
}

const shown = (word: string): string => (/^[\w./:=,@+>&-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** Compares runs with a text in `golden/` that a person has reviewed. */
export async function expectGolden(name: string, place: Place, rans: readonly Ran[]): Promise<void> {
  const text = rans.map((ran) => transcript(place, ran)).join('\n');
  await expect(text).toMatchFileSnapshot(`golden/${name}.txt`);
}

/** The longest line of a text. */
export const widest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));
