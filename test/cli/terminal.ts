import { spawn } from 'node:child_process';
import { environment, longestRunMs, mainFile, type Ran, type RunOptions } from './meshwright.ts';
import type { Place } from './place.ts';
import { withoutProgress } from './placeholders.ts';

/** What a person does at the terminal: when this text has appeared, these keys are typed. */
export interface Typing {
  readonly after: string;
  readonly keys: string;
}

/** How the terminal is. */
export interface TerminalOptions extends RunOptions {
  readonly columns?: number;
  readonly typing?: Typing;
  /** Told when this text is there, and again with whatever comes after it. */
  readonly notice?: { readonly after: string; readonly tell: () => void };
}

/** Makes a terminal; part of util-linux and of macOS. */
const maker = 'script';

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** util-linux takes the command with -c, macOS as words. */
const scriptWords = (command: string): readonly string[] =>
  process.platform === 'darwin'
    ? ['-q', '/dev/null', '/bin/sh', '-c', command]
    : ['-q', '-e', '-f', '-c', command, '/dev/null'];

/**
 * Runs the program on a terminal of its own (`script` makes it), which has as many columns as asked. What it wrote to
 * either stream is in `stdout`; the code is the one that the program ended with.
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
    if (notice !== undefined && stdout.includes(notice.after)) notice.tell();
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
