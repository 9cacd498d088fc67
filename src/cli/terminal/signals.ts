import { setMaxListeners } from 'node:events';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import type { Console } from './console.ts';

/** The exit code that the signal asks for which has aborted this; undefined while nothing has. */
export function exitOfSignal({ aborted, reason }: AbortSignal): ExitCode | undefined {
  if (!aborted) return undefined;
  return reason instanceof Error && reason.cause === exitCode.terminated ? exitCode.terminated : exitCode.interrupted;
}

/** Signals of this process while a verb runs. */
interface Signals {
  /** Aborted by the first signal: verbs end their connections and return. */
  readonly signal: AbortSignal;
  /** The exit code that the signal asks for, once there was one. */
  readonly received: () => ExitCode | undefined;
  readonly stop: () => void;
}

/**
 * Listens for Ctrl-C, TERM, HUP and QUIT. The first one ends the run in order; the second one ends the process at once,
 * with the same code.
 */
export function listenForSignals(console: Console): Signals {
  const controller = new AbortController();
  // Every node of a run listens; from eleven on Node would warn of a leak.
  setMaxListeners(0, controller.signal);
  let code: ExitCode | undefined;
  const on = (next: ExitCode, text: string) => (): void => {
    if (code !== undefined) process.exit(code);
    code = next;
    console.err(`${console.isErrTty ? '\n' : ''}${text}\n`);
    controller.abort(new Error('interrupted', { cause: next }));
  };
  const handlers = [
    ['SIGINT', on(exitCode.interrupted, 'interrupted: stopping in order; press again to stop at once')],
    ['SIGTERM', on(exitCode.terminated, 'terminated: stopping in order')],
    ['SIGHUP', on(exitCode.terminated, 'hung up: stopping in order')],
    // By itself the system would write this process with its secrets into a core file.
    ['SIGQUIT', on(exitCode.terminated, 'quit: stopping in order')],
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
