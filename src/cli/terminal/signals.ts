import { forMany } from '../../remote/on-abort.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import type { Console } from './console.ts';

/** The exit code of the signal that aborted this run; undefined if the run was not aborted. */
export function exitOfSignal({ aborted, reason }: AbortSignal): ExitCode | undefined {
  if (!aborted) return undefined;
  return reason instanceof Error && reason.cause === exitCode.terminated ? exitCode.terminated : exitCode.interrupted;
}

/** Runs `work`. Calls `end` if the signal aborts the work, and always afterwards. */
export async function endedOnAbort<T>(signal: AbortSignal, end: () => void, work: () => Promise<T>): Promise<T> {
  signal.addEventListener('abort', end, { once: true });
  try {
    return await work();
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}

/** Listens for Ctrl-C, TERM, HUP and QUIT. The first one stops the run cleanly, the second one ends it immediately. */
export function listenForSignals(console: Console) {
  const controller = new AbortController();
  let code: ExitCode | undefined;
  const on = (next: ExitCode, text: string) => (): void => {
    if (code !== undefined) process.exit(code);
    code = next;
    console.err(`${console.isErrTty ? '\n' : ''}${text}\n`);
    controller.abort(new Error('interrupted', { cause: next }));
  };
  const handlers = [
    ['SIGINT', on(exitCode.interrupted, 'interrupted: stopping cleanly; press Ctrl-C again to stop immediately')],
    ['SIGTERM', on(exitCode.terminated, 'terminated: stopping cleanly')],
    ['SIGHUP', on(exitCode.terminated, 'hung up: stopping cleanly')],
    // By default, QUIT writes the memory of this process, with its secrets, to a core file.
    ['SIGQUIT', on(exitCode.terminated, 'quit: stopping cleanly')],
  ] as const;
  for (const [name, handler] of handlers) process.on(name, handler);
  return {
    /** Aborted by the first signal; commands then close their connections and return. */
    signal: forMany(controller.signal),
    /** The exit code of the received signal, if any. */
    received: () => code,
    stop: () => {
      for (const [name, handler] of handlers) process.off(name, handler);
    },
  };
}
