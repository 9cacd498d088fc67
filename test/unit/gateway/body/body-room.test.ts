import { setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type BodyAccount, makeBodyRoom } from '../../../../src/gateway/body/body-room.ts';

const never = new AbortController().signal;
setMaxListeners(0, never);

/** Room for bodies of at most 60 bytes; the two placements have a share of 20 bytes each. */
function makeRoom() {
  const room = makeBodyRoom(100, 60, ['chat', 'code']);
  const had: string[] = [];
  const body = (placement: string, ...more: readonly string[]) => room.open([placement, ...more]);
  /** Notes when the body gets its bytes. */
  const ask = async (name: string, account: BodyAccount, bytes: number, size = bytes, signal = never) => {
    const isReached = await account.reach(bytes, size, signal);
    had.push(isReached ? name : `${name} left`);
  };
  const held = () => [room.held('chat'), room.held('code')];
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { body, ask, had, held, settled };
}

describe('the memory for bodies', () => {
  it('is reserved in steps and released only once', async () => {
    const { body, ask, held } = makeRoom();
    const one = body('chat');
    await ask('first step', one, 8);
    await ask('second step', one, 16);
    await ask('nothing new', one, 16);
    expect(held()).toEqual([16, 0]);
    one.free();
    one.free();
    expect(held()).toEqual([0, 0]);
  });

  it("is still available to one placement while another placement's bodies wait for more", async () => {
    const { body, ask, had, held, settled } = makeRoom();
    const stalled = [body('chat'), body('chat'), body('chat'), body('chat')];
    for (const [at, one] of stalled.entries()) void ask(`stalled ${at}`, one, at === 3 ? 60 : 10, 60);
    await settled();
    expect([had.splice(0), held()]).toEqual([
      ['stalled 0', 'stalled 1', 'stalled 2'],
      [30, 0],
    ]);
    await ask('code', body('code'), 20, 60);
    expect([had, held()]).toEqual([['code'], [30, 20]]);
  });

  it('goes to the smallest body that fits', async () => {
    const { body, ask, had, settled } = makeRoom();
    const [first, beyond] = [body('chat'), body('chat')];
    await ask('first', first, 20);
    await ask('beyond its share', beyond, 5);
    void ask('large', body('chat'), 10, 60);
    void ask('middle', body('chat'), 9);
    void ask('small', body('chat'), 8);
    await settled();
    expect(had.splice(0)).toEqual(['first', 'beyond its share']);
    beyond.free();
    await settled();
    // What is beyond the share goes to the body that waits longest, so that small bodies do not keep it out.
    expect(had.splice(0)).toEqual(['large']);
    first.free();
    await settled();
    expect(had).toEqual(['small', 'middle']);
  });

  it('lets bodies that arrive in parallel finish one by one', async () => {
    const { body, ask, had, held } = makeRoom();
    const upload = async (name: string) => {
      const account = body('chat');
      for (const bytes of [10, 20, 30, 40, 50, 60]) await ask('', account, bytes, 60);
      had.push(name);
      account.free();
    };
    await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(upload));
    expect([had.filter((name) => name !== '').sort(), held()]).toEqual([
      ['a', 'b', 'c', 'd', 'e', 'f'],
      [0, 0],
    ]);
  });

  it('never exceeds its limit, whatever bodies arrive', async () => {
    const { body, ask, held, settled } = makeRoom();
    for (let at = 0; at < 40; at += 1) void ask('', body(at % 2 === 0 ? 'chat' : 'code'), 7 + (at % 50), 60);
    await settled();
    const [chat = 0, code = 0] = held();
    expect(chat + code).toBeGreaterThan(40);
    expect(chat + code).toBeLessThanOrEqual(100);
  });

  it('is not reserved for a body whose client disconnects while it waits', async () => {
    const { body, ask, had, settled } = makeRoom();
    const [first, beyond] = [body('chat'), body('chat')];
    await ask('first', first, 20);
    await ask('beyond', beyond, 60);
    const left = new AbortController();
    void ask('second', body('chat'), 20, 20, left.signal);
    void ask('third', body('chat'), 20);
    await ask('gone', body('chat'), 1, 1, AbortSignal.abort());
    left.abort();
    first.free();
    await settled();
    expect(had).toEqual(['first', 'beyond', 'gone left', 'second left']);
    beyond.free();
    await settled();
    expect(had.at(-1)).toBe('third');
  });

  it('counts toward the least loaded placement that the key gives access to', async () => {
    const { body, ask, held } = makeRoom();
    await ask('one', body('chat'), 5);
    await ask('both', body('chat', 'code'), 4);
    expect(held()).toEqual([5, 4]);
  });
});
