import { spawn } from 'node:child_process';
import { environment, longestRunMs, mainFile, type Ran, type RunOptions } from './meshwright.ts';
import type { Place } from './place.ts';
import { withoutProgress } from './placeholders.ts';

/** Keys that are typed once this text has appeared. */
export interface Typing {
  readonly after: string;
  readonly keys: string;
}

/** Size and use of the terminal. */
export interface TerminalOptions extends RunOptions {
  readonly columns?: number;
  readonly typing?: Typing;
  /** Called when this text has appeared, and for all output after it. */
  readonly notice?: { readonly after: string; readonly notify: () => void };
}

/** The program that creates a terminal; part of util-linux and macOS. */
const maker = 'script';

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** util-linux expects the command after -c, macOS as separate arguments. */
const scriptWords = (command: string): readonly string[] =>
  process.platform === 'darwin'
    ? ['-q', '/dev/null', '/bin/sh', '-c', command]
    : ['-q', '-e', '-f', '-c', command, '/dev/null'];

/**
 * Runs the program on a separate terminal, which `script` creates. `stdout` has both streams, and `code` is the
 * program's exit code.
 */
export function onTerminal(place: Place, words: readonly string[], options: TerminalOptions = {}): Promise<Ran> {
  const program = [process.execPath, mainFile, ...words].map(quoted).join(' ');
  const command = `stty cols ${options.columns ?? 80} rows 40 -onlcr; trap : INT; ${program}; echo "[exit $?]"`;
  const child = spawn(maker, [...scriptWords(command)], {
    cwd: options.folder ?? place.folder,
    env: { SHELL: '/bin/sh', ...environment(place, options.env) },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let hasTyped = false;
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    const { typing, notice } = options;
    if (notice !== undefined && stdout.includes(notice.after)) notice.notify();
    if (typing === undefined || hasTyped || !stdout.includes(typing.after)) return;
    hasTyped = true;
    child.stdin.write(typing.keys);
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), longestRunMs);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (_code, signal) => {
      clearTimeout(timer);
      child.stdin.destroy();
      const code = /\[exit (\d+)\]\s*$/.exec(stdout)?.[1];
      const text = withoutProgress(stdout.replace(/\[exit \d+\]\s*$/, '')).replaceAll('\r', '');
      resolve({ words, code: code === undefined ? null : Number(code), signal, stdout: text, stderr: '' });
    });
  });
}
