import { setMaxListeners } from 'node:events';

/**
 * Runs `work` with a signal that aborts when one of `signals` does. `AbortSignal.any` would leave an entry for each
 * request in a signal that outlives the requests, such as the one that stops the gateway.
 */
export async function withAnySignal<Result>(
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const any = new AbortController();
  const abort = (): void => any.abort(signals.find(({ aborted }) => aborted)?.reason);
  // With more than ten parallel requests, Node would otherwise warn about a memory leak.
  setMaxListeners(0, ...signals);
  for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
  if (signals.some(({ aborted }) => aborted)) abort();
  try {
    return await work(any.signal);
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', abort);
  }
}
