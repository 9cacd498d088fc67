import { setMaxListeners } from 'node:events';

/** Allows any number of listeners: nodes and commands add many, and above ten, Node warns of a leak. */
export function forMany(signal: AbortSignal): AbortSignal {
  setMaxListeners(0, signal);
  return signal;
}

/** Calls `act` when the signal aborts, immediately if it already has. Returns a function that stops listening. */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal === undefined) return () => undefined;
  if (signal.aborted) act();
  else forMany(signal).addEventListener('abort', act, { once: true });
  return () => signal.removeEventListener('abort', act);
}
