import { setTimeout as sleep } from 'node:timers/promises';

/** Ends a hanging wait. It is shorter than the time limit of a test, so that the failure names the wait. */
export const longestWaitMs = 100_000;

const shortestPauseMs = 2;
const longestPauseMs = 50;

/** Waits until a condition is true; returns false after {@link longestWaitMs}. The pauses grow to save CPU time. */
export async function eventually(isTrue: () => Promise<boolean> | boolean): Promise<boolean> {
  const end = performance.now() + longestWaitMs;
  for (let pauseMs = shortestPauseMs; performance.now() < end; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    if (await isTrue()) return true;
    await sleep(pauseMs);
  }
  return false;
}

/** Waits until a condition is true. @throws Error after {@link longestWaitMs} */
export async function until(isTrue: () => Promise<boolean> | boolean): Promise<void> {
  if (!(await eventually(isTrue))) throw new Error(`this never became true: ${isTrue}`);
}
