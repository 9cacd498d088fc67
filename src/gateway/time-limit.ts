import { withAnySignal } from './any-signal.ts';

/**
 * Runs `work` with a signal that aborts with one of `signals`, or after `ms`. Node 20 loses an `AbortSignal.timeout`
 * within `AbortSignal.any` when it collects garbage; a separate timer survives.
 */
export async function withTimeLimit<Result>(
  ms: number,
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ms);
  try {
    return await withAnySignal([...signals, late.signal], work);
  } finally {
    clearTimeout(timer);
  }
}
