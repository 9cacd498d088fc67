import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { onTestFinished, vi } from 'vitest';

/** The part of `setTimeout` of node:timers/promises that the sources use, with the timers of vitest's fake clock. */
const wait = (ms: number, _value: undefined, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });

/**
 * Runs `work` with a clock that jumps to the next timer, from time 0, until `work` is over; `node:timers/promises`
 * follows the clock, too.
 *
 * @param forMs fails if `work` takes longer, or waits for nothing
 */
export async function withFakeClock<T>(forMs: number, work: () => Promise<T>): Promise<T> {
  const original = timers.setTimeout;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'], now: 0 });
  Object.assign(timers, { setTimeout: wait });
  syncBuiltinESMExports();
  try {
    let isOver = false;
    const result = work().finally(() => {
      isOver = true;
    });
    result.catch(() => undefined);
    // Turns of the event loop without a timer: a few are real input and output, many are a hang.
    for (let idle = 0; !isOver && performance.now() <= forMs && idle < 1_000; ) {
      await new Promise((next) => setImmediate(next));
      idle = vi.getTimerCount() === 0 ? idle + 1 : 0;
      if (!isOver) await vi.advanceTimersToNextTimerAsync();
    }
    if (!isOver) throw new Error(`still running at ${performance.now()} ms`);
    return await result;
  } finally {
    Object.assign(timers, { setTimeout: original });
    syncBuiltinESMExports();
    vi.useRealTimers();
  }
}

/**
 * Until the test ends, sleeps of `node:timers/promises` return after one turn of the event loop. Returns the list of
 * their milliseconds, which grows. `onSleep` can advance a fake clock.
 */
export function skipSleeps(onSleep: (ms: number) => void = () => undefined): readonly number[] {
  const sleptMs: number[] = [];
  const sleep = vi.spyOn(timers, 'setTimeout').mockImplementation(async (ms = 0, value) => {
    sleptMs.push(ms);
    onSleep(ms);
    await timers.setImmediate();
    return value as never;
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    sleep.mockRestore();
    syncBuiltinESMExports();
  });
  return sleptMs;
}

/** Until the test ends, time passes only in sleeps, which take no real time. */
export function skipTime(): void {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  skipSleeps((ms) => void vi.advanceTimersByTime(ms));
}
