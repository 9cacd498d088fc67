/** Runs scripts in parallel, one command at a time, in an order that a seed determines. */
import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** The result of a script. */
export interface SteppedEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Before each command, including those in functions and subshells, reports that it is ready and waits for permission.
 */
const stepped = "set -o functrace\ntrap 'echo >&4; read -r _ <&3' DEBUG\n";

/** One of several programs, each of which runs its scripts one after another. */
export type Program = (run: (script: string) => Promise<SteppedEnd>) => Promise<void>;

interface Waiting {
  readonly goOn: () => void;
}

/**
 * Runs programs to their end. Only one command runs at any time. `choose` gets the number of waiting programs and
 * returns the one that continues; `shell` is the path of a bash named `sh`.
 */
export async function interleave(
  shell: string,
  programs: readonly Program[],
  choose: (count: number, last: number) => number,
): Promise<void> {
  const waiting = new Map<number, Waiting>();
  let [busy, living] = [programs.length, programs.length];
  let wake = (): void => undefined;
  const isQuiet = (): void => {
    if (busy === 0) wake();
  };

  const runOf = (at: number) => (script: string) =>
    new Promise<SteppedEnd>((resolve, reject) => {
      const child = spawn(shell, ['-s'], { stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'] });
      const [input, out, err, tokens, steps] = child.stdio as [Writable, Readable, Readable, Writable, Readable];
      let [stdout, stderr] = ['', ''];
      out.on('data', (chunk: Buffer) => {
        stdout += chunk.toString();
      });
      err.on('data', (chunk: Buffer) => {
        stderr += chunk.toString();
      });
      tokens.on('error', () => undefined);
      steps.on('data', (chunk: Buffer) => {
        if (chunk.length !== 1) reject(new Error('one script ran two commands at the same time'));
        waiting.set(at, { goOn: () => tokens.write('\n') });
        busy -= 1;
        isQuiet();
      });
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, stdout, stderr }));
      input.end(stepped + script);
    });

  const ended = programs.map(async (program, at) => {
    await program(runOf(at));
    living -= 1;
    busy -= 1;
    isQuiet();
  });
  const failed = Promise.all(ended).then(() => undefined);
  let last = 0;
  while (living > 0) {
    await Promise.race([
      failed,
      new Promise<void>((resolve) => {
        wake = resolve;
        isQuiet();
      }),
    ]);
    const ready = [...waiting.keys()].sort((a, b) => a - b);
    if (ready.length === 0) break;
    const chosen = ready[choose(ready.length, ready.indexOf(last))] ?? 0;
    const { goOn } = waiting.get(chosen) ?? { goOn: () => undefined };
    waiting.delete(chosen);
    last = chosen;
    busy += 1;
    goOn();
  }
  await failed;
}
