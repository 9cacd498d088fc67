import { setMaxListeners } from 'node:events';

/** Lets any number listen to a signal: every node and command of a run may, and from eleven on Node would warn of a leak. */
export function forMany(signal: AbortSignal): AbortSignal {
  setMaxListeners(0, signal);
  return signal;
}

/** Calls `act` when the signal comes, at once where it has come already, and gives what ends the listening. */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal === undefined) return () => undefined;
  if (signal.aborted) act();
  else forMany(signal).addEventListener('abort', act, { once: true });
  return () => signal.removeEventListener('abort', act);
}
