import { withAnySignal } from './any-signal.ts';

/**
 * Runs `work` with a signal that aborts when one of `signals` does, or after `ms` milliseconds. Node 20 can
 * garbage-collect an `AbortSignal.timeout` inside `AbortSignal.any`, so the function uses a separate timer.
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
