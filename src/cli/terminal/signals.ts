import { setMaxListeners } from 'node:events';
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

interface SignalListener {
  /** Aborted by the first signal; commands then close their connections and return. */
  readonly signal: AbortSignal;
  /** The exit code of the received signal, if any. */
  readonly received: () => ExitCode | undefined;
  readonly stop: () => void;
}

/**
 * Listens for Ctrl-C, TERM, HUP and QUIT. The first signal stops the run cleanly; the second one ends the process
 * immediately, with the same exit code.
 */
export function listenForSignals(console: Console): SignalListener {
  const controller = new AbortController();
  // Every node in a run adds a listener; without this, Node warns of a leak from the eleventh on.
  setMaxListeners(0, controller.signal);
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
    signal: controller.signal,
    received: () => code,
    stop: () => {
      for (const [name, handler] of handlers) process.off(name, handler);
    },
  };
}
