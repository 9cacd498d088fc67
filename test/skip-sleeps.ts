import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { onTestFinished, vi } from 'vitest';

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
