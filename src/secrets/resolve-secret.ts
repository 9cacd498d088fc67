import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { ReadStream } from 'node:tty';
import { diagnose } from '../diagnostics/diagnose.ts';
import { type Diagnostic, systemCode } from '../diagnostics/diagnostic.ts';
import { given } from '../model/given.ts';
import { concealed, type Secret, type SecretSource, secretSourceText } from '../model/secret.ts';
import type { Subject } from '../model/subject.ts';
import type { Prose } from '../model/text/prose.ts';

export interface HiddenTerminal {
  readonly input: Pick<ReadStream, 'setRawMode' | 'on' | 'off' | 'resume' | 'pause'>;
  readonly write: (text: string) => void;
  readonly signal?: AbortSignal;
  /** Called for Ctrl-C at the prompt, because raw mode delivers Ctrl-C as a byte. */
  readonly abort: () => void;
}

const keys = {
  enter: '\r',
  newline: '\n',
  ctrlC: '\u0003',
  ctrlD: '\u0004',
  ctrlU: '\u0015',
  delete: '\u007f',
  back: '\b',
};
const longestAnswer = 1_024;

/** Prompts without echo; undefined if the person cancels. */
export function askHidden(question: string, terminal: HiddenTerminal): Promise<string | undefined> {
  const { input, write, signal } = terminal;
  return new Promise((resolve) => {
    let typed: readonly string[] = [];
    const decoder = new TextDecoder();
    let isOver = false;
    const end = (answer: string | undefined): void => {
      isOver = true;
      signal?.removeEventListener('abort', giveUp);
      input.off('data', read).off('end', giveUp);
      input.setRawMode(false);
      input.pause();
      write('\n');
      resolve(answer);
    };
    const giveUp = (): void => end(undefined);
    const take = (key: string): void => {
      if (key === keys.ctrlC) terminal.abort();
      if (key === keys.enter || key === keys.newline) end(typed.join(''));
      else if (key === keys.ctrlC || (key === keys.ctrlD && typed.length === 0)) giveUp();
      else typed = edited(typed, key);
    };
    const read = (chunk: Buffer): void => {
      for (const key of decoder.decode(chunk, { stream: true })) if (!isOver) take(key);
    };
    if (signal?.aborted === true) {
      resolve(undefined);
      return;
    }
    // Raw mode must be on before the prompt appears; otherwise early typing would be visible.
    input.setRawMode(true);
    signal?.addEventListener('abort', giveUp, { once: true });
    input.on('data', read).on('end', giveUp);
    write(question);
    input.resume();
  });
}

function edited(typed: readonly string[], key: string): readonly string[] {
  if (key === keys.ctrlU) return [];
  if (key === keys.delete || key === keys.back) return typed.slice(0, -1);
  return key < ' ' || typed.length >= longestAnswer ? typed : [...typed, key];
}

export interface SecretContext {
  readonly subject: Subject;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Base folder of relative paths, which is the cluster file's folder. */
  readonly folder: string;
  readonly home: string;
  /** Prompts without echo; returns undefined if the person cancels. Absent without a terminal. */
  readonly ask?: (question: string) => Promise<string | undefined>;
  /** The kind of secret (default: a password). */
  readonly what?: 'key' | 'token';
  /** The prompt, such as `Password of mesh on studio-3`. */
  readonly question: string;
  readonly signal?: AbortSignal;
  /** Throws if this run may not use the source. A rehearsal reads none, and returns what stands in for the secret. */
  readonly allow: (source: SecretSource) => Promise<string | undefined>;
  /** Receives the secret, so that a log can mask it. */
  readonly onResolved?: ((secret: string) => void) | undefined;
}

/** The secret, or the reason why there is none. */
export type ResolvedSecret =
  | { readonly kind: 'resolved'; readonly secret: Secret }
  | { readonly kind: 'missing'; readonly diagnostic: Diagnostic };

const maxBytes = 1_024;

/**
 * Reads a secret from its source, once, if this run may use it. One trailing line break is removed. Empty secrets,
 * several lines, invalid text and NUL are rejected. No diagnostic contains any part of the secret.
 * @throws FleetError from {@link SecretContext.allow}
 */
export async function resolveSecret(source: SecretSource, context: SecretContext): Promise<ResolvedSecret> {
  const simulated = await context.allow(source);
  if (simulated !== undefined) return { kind: 'resolved', secret: concealed(simulated) };
  const raw = await rawSecret(source, context);
  if (raw.kind === 'refused') return refused('secret/missing', source, context, raw);
  if (raw.kind === 'exposed') return refused('secret/exposed', source, context, raw);
  const read = cleanSecret(raw.bytes);
  if (read.kind !== 'text') return refused('secret/unusable', source, context, { why: read.why });
  context.onResolved?.(read.text);
  return { kind: 'resolved', secret: concealed(read.text) };
}

function rawSecret(source: SecretSource, context: SecretContext): Promise<RawSecret> {
  switch (source.kind) {
    case 'env':
      return Promise.resolve(fromEnv(source.name, context));
    case 'file':
      return readSecretFile(source.path, context);
    case 'command':
      return runSecretCommand(source, context);
    case 'prompt':
      return fromPerson(context);
  }
}

function fromEnv(name: string, { env }: SecretContext): RawSecret {
  const value = env[name];
  if (value !== undefined) return { kind: 'bytes', bytes: Buffer.from(value) };
  return {
    kind: 'refused',
    why: `The environment variable ${name} is not set.`,
    hint: `Set ${name} for this command.`,
  };
}

async function fromPerson({ ask, question }: SecretContext): Promise<RawSecret> {
  const hint = 'Run the command in a terminal, or use a different source: env, file or command.';
  if (ask === undefined) return { kind: 'refused', why: 'A prompt needs a terminal, and there is none.', hint };
  const answer = await ask(`${question}: `);
  if (answer !== undefined) return { kind: 'bytes', bytes: Buffer.from(answer) };
  return { kind: 'refused', why: 'The prompt was canceled.', hint: 'Run the command again.' };
}

type CleanSecret = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'bad'; readonly why: string };

function cleanSecret(bytes: Uint8Array): CleanSecret {
  const bad = (why: string): CleanSecret => ({ kind: 'bad', why });
  if (bytes.length > maxBytes + 2) return bad(`The value is longer than ${maxBytes} bytes.`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/u, '');
  } catch {
    return bad('The value is not valid UTF-8.');
  }
  if (text === '') return bad('The value is empty.');
  if (text.includes('\0')) return bad('The value contains a NUL byte.');
  return /[\r\n]/u.test(text) ? bad('The value has more than one line.') : { kind: 'text', text };
}

function refused(
  code: 'secret/missing' | 'secret/exposed' | 'secret/unusable',
  source: SecretSource,
  { subject, what }: SecretContext,
  { why, hint }: { readonly why: string; readonly hint?: Prose },
): ResolvedSecret {
  const detail = `The ${what ?? 'password'} comes from ${secretSourceText(source)}. ${why}`;
  return { kind: 'missing', diagnostic: diagnose(code, { detail, subject, ...given({ hint }) }) };
}

type Places = Pick<SecretContext, 'folder' | 'home'>;

/** The absolute path of a secret's file. `~/` is the home folder; relative paths are relative to `folder`. */
function secretPath(path: string, { folder, home }: Places): string {
  if (path === '~' || path.startsWith('~/')) return join(home, path.slice(1));
  return isAbsolute(path) ? path : join(folder, path);
}

/** Reads a file that must belong to this user or root, and that no other user can read or write. */
export async function readSecretFile(path: string, places: Places): Promise<RawSecret> {
  const at = secretPath(path, places);
  let file: FileHandle;
  try {
    // A normal open of a pipe would wait forever for a writer.
    file = await open(at, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = systemCode(error) ?? 'unknown';
    const why = code === 'ENOENT' || code === 'ENOTDIR' ? `${at} does not exist.` : `${at} cannot be read (${code}).`;
    return { kind: 'refused', why, hint: 'Write the password into that file as its only line, with mode 600.' };
  }
  try {
    return await readOpened(file, at);
  } finally {
    await file.close();
  }
}

async function readOpened(file: FileHandle, at: string): Promise<RawSecret> {
  const found = await file.stat();
  const { mode, uid } = found;
  if (!found.isFile()) return { kind: 'refused', why: `${at} is not a regular file.`, hint: 'Use a regular file.' };
  const hint = `Change the password, then: chmod 600 ${at}`;
  const own = process.getuid?.();
  if (own !== undefined && uid !== own && uid !== 0) {
    return { kind: 'exposed', why: `${at} belongs to another user (uid ${uid}).`, hint };
  }
  if ((mode & 0o077) !== 0) {
    const shown = (mode & 0o777).toString(8).padStart(3, '0');
    return { kind: 'exposed', why: `${at} has mode ${shown}: other accounts on this computer may access it.`, hint };
  }
  const bytes = Buffer.alloc(mostRawBytes);
  const { bytesRead } = await file.read(bytes, 0, mostRawBytes, 0);
  return { kind: 'bytes', bytes: bytes.subarray(0, bytesRead) };
}

/** The context for running a program on this computer. */
interface CommandContext extends Pick<SecretContext, 'env' | 'folder' | 'signal'> {
  /** Default: 30 s. */
  readonly deadlineMs?: number;
  /** A program that prints more is killed. Default: the longest secret. */
  readonly maxBytes?: number;
}

const patienceMs = 30_000;

/** Returns a program's stdout. No shell, no input, and its output is never shown; to debug it, users run it. */
export function runSecretCommand(
  { argv, hidden = [] }: Extract<SecretSource, { kind: 'command' }>,
  context: CommandContext,
): Promise<RawSecret> {
  const [program = '', ...words] = argv;
  const { env, folder, signal, deadlineMs = patienceMs, maxBytes = mostRawBytes } = context;
  const hint = 'Run that command manually and fix the problem it reports.';
  const running = new Promise<RawSecret>((resolve) => {
    const child = spawn(program, words, {
      cwd: folder,
      env: Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.includes(name))),
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: deadlineMs,
      killSignal: 'SIGKILL',
      ...given({ signal }),
    });
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = (why: string, isStopped?: true): void =>
      resolve({ kind: 'refused', why: `\`${program}\` ${why}.`, hint, ...given({ isStopped }) });
    // A child of the program may keep the pipe open, so do not wait for the pipe's end.
    const end = (code: number | null, by: NodeJS.Signals | null): void => {
      child.stdout.destroy();
      if (size > maxBytes) refuse('printed too much', true);
      else if (by === 'SIGKILL') refuse(`did not finish within ${deadlineMs / 1000} s`, true);
      else if (code === null) refuse(`was stopped by signal ${by}`, true);
      else if (code !== 0) refuse(`exited with status ${code}`);
      else resolve({ kind: 'bytes', bytes: Buffer.concat(chunks) });
    };
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else child.kill('SIGKILL');
    });
    child.once('error', (error) => refuse(startFailure(error)));
    child.once('exit', (code, by) => {
      const last = setTimeout(() => end(code, by), 200);
      child.once('close', () => {
        clearTimeout(last);
        end(code, by);
      });
    });
  });
  // For some programs, the system immediately reports that they cannot run.
  return running.catch((error: unknown) => ({ kind: 'refused', why: `\`${program}\` ${startFailure(error)}.`, hint }));
}

function startFailure(error: unknown): string {
  if (error instanceof Error && error.name === 'AbortError') return 'was interrupted';
  const code = systemCode(error) ?? 'unknown';
  return code === 'ENOENT' ? 'does not exist' : `could not be started (${code})`;
}

/** Unchecked bytes from a source, or the reason why there are none. No reason contains any of the bytes. */
type RawSecret =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | {
      readonly kind: 'refused';
      readonly why: string;
      readonly hint: Prose;
      /** Set if the program was stopped, so that it is unknown what it did. */
      readonly isStopped?: true;
    }
  /** Other users may be able to read the file. */
  | { readonly kind: 'exposed'; readonly why: string; readonly hint: Prose };

/** One byte more than the longest secret with a line break is enough to reject the value. */
const mostRawBytes = 2_048;
