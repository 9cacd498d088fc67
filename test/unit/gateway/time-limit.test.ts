import { setImmediate as otherWork } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { withTimeLimit } from '../../../src/gateway/time-limit.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const aborted = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve('aborted'), { once: true }));

/** What Node keeps at a signal: listeners, and entries of signals that depend on it. */
const keptAt = (signal: AbortSignal): number =>
  Object.getOwnPropertySymbols(signal)
    .map((key) => Number(Reflect.get(Object(Reflect.get(signal, key)), 'size')) || 0)
    .reduce((sum, size) => sum + size, 0);

afterEach(() => void vi.useRealTimers());

describe('a time limit', () => {
  it('survives garbage collection', async () => {
    const { signal } = new AbortController();
    const limited = Array.from({ length: 20 }, () => withTimeLimit(100, [signal], aborted));
    for (let times = 0; times < 5; times += 1) {
      await otherWork();
      collectGarbage();
    }
    expect(await Promise.all(limited)).toEqual(limited.map(() => 'aborted'));
  });

  it('ends when the first of its signals aborts, or when its work ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const gone = new AbortController();
    const never = new AbortController().signal;
    const waiting = withTimeLimit(1_000, [never, gone.signal], aborted);
    gone.abort();
    expect(await waiting).toBe('aborted');
    expect(await withTimeLimit(1_000, [AbortSignal.abort()], async ({ aborted: is }) => is)).toBe(true);
    await expect(withTimeLimit(1_000, [never], () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves no listener on a signal that outlives it', async () => {
    const { signal } = new AbortController();
    for (let times = 0; times < 100; times += 1) await withTimeLimit(1_000, [signal], () => Promise.resolve());
    collectGarbage();
    expect(keptAt(signal)).toBe(0);
  });
});
