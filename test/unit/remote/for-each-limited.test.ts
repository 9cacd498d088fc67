import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { forEachLimited } from '../../../src/remote/limit-parallel.ts';

/** The highest number of items in parallel, and the order in which they began. */
async function watch(
  count: number,
  limit: number,
): Promise<{ readonly most: number; readonly begun: readonly number[] }> {
  const begun: number[] = [];
  let now = 0;
  let most = 0;
  await forEachLimited(
    Array.from({ length: count }, (_, index) => index),
    limit,
    async (index) => {
      begun.push(index);
      now += 1;
      most = Math.max(most, now);
      await nextTurn();
      now -= 1;
    },
  );
  return { most, begun };
}

describe('forEachLimited', () => {
  it.each([
    [10, 3, 3],
    [2, 8, 2],
    [5, 1, 1],
    [4, 0, 1],
    [1, 32, 1],
    [0, 4, 0],
  ])('acts on each of %s items once and in order, at most %s at a time', async (count, limit, most) => {
    expect(await watch(count, limit)).toEqual({ most, begun: Array.from({ length: count }, (_, index) => index) });
  });

  it('does not delay other items because of a slow one', async () => {
    const ended: string[] = [];
    let release = (): void => undefined;
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const all = forEachLimited(['slow', 'a', 'b', 'c'], 2, async (item) => {
      if (item === 'slow') await slow;
      ended.push(item);
      if (item === 'c') release();
    });
    await all;
    expect(ended).toEqual(['a', 'b', 'c', 'slow']);
  });

  it('rejects with the first rejection', async () => {
    const act = (item: number): Promise<void> => (item === 2 ? Promise.reject(new Error('second')) : Promise.resolve());
    await expect(forEachLimited([1, 2, 3], 2, act)).rejects.toThrow('second');
  });
});
