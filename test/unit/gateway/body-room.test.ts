import { expect, it } from 'vitest';
import { makeBodyRoom } from '../../../src/gateway/body-room.ts';

const never = new AbortController().signal;

it('makeBodyRoom grants limited room in request order', async () => {
  const room = makeBodyRoom(10);
  const had: string[] = [];
  const ask = async (name: string, bytes: number, signal = never): Promise<(() => void) | undefined> => {
    const free = await room.take(bytes, signal);
    had.push(free === undefined ? `${name} left` : name);
    return free;
  };
  const [first, second] = await Promise.all([ask('first', 6), ask('second', 4)]);
  const leaving = new AbortController();
  const third = ask('third', 7, leaving.signal);
  // Once the second request is done, the fourth would fit, but it still waits behind the third.
  const fourth = ask('fourth', 4);
  second?.();
  await Promise.resolve();
  expect(had).toEqual(['first', 'second']);
  leaving.abort();
  await third;
  await fourth;
  expect(had).toEqual(['first', 'second', 'third left', 'fourth']);
  first?.();
  await ask('fifth', 6);
  expect(await room.take(1, AbortSignal.abort())).toBeUndefined();
  expect(had.at(-1)).toBe('fifth');
});

it('makeBodyRoom keeps room available for others when a request disconnects', async () => {
  const room = makeBodyRoom(10);
  const [served, left] = [new AbortController(), new AbortController()];
  const first = await room.take(10, served.signal);
  const waiting = [room.take(4, never), room.take(4, left.signal), room.take(6, never)];
  served.abort();
  left.abort();
  expect(await waiting[1]).toBeUndefined();
  first?.();
  expect((await Promise.all(waiting)).map((one) => one !== undefined)).toEqual([true, false, true]);
});
