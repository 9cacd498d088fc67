import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchReplicas } from '../../../../src/gateway/replicas/replicas.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { until } from '../../../until.ts';

const path = temporaryFolder().at('chat');
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const at = { placement: 'chat-b', host: '127.0.0.1', port: 1 };
const read = watchReplicas(path, [1, 1]);
const list = (value: unknown) => {
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  return read();
};

describe("a model's other replicas", () => {
  it('are the valid entries in a file, and keep their requests when the file changes', async () => {
    expect(await watchReplicas(undefined, [1, 1])()).toEqual([]);
    const [kept] = await list([at]);
    const signal = new AbortController().signal;
    const taken = [kept?.turns.take(signal), kept?.turns.take(signal), await kept?.turns.take(signal)];
    expect([taken[2], kept?.turns.counts()]).toEqual([undefined, { running: 1, waiting: 1 }]);
    const wrong = [{ placement: 1 }, { host: undefined }, { port: '1' }, { port: 0.5 }].map((one) => ({
      ...at,
      ...one,
    }));
    const both = await list([null, 7, ...wrong, { ...at, placement: 'chat-c', more: 1 }, at]);
    expect(both.map((one) => one.at)).toEqual([{ ...at, placement: 'chat-c' }, at]);
    expect(both[1]).toBe(kept);
    for (const none of ['{', '{}', 'null']) expect(await list(none)).toEqual([]);
    expect((await list([at]))[0]).not.toBe(kept);
  });

  it('get no requests for two seconds after a refusal', async () => {
    const [one] = await list([at]);
    one?.refused();
    expect(one?.isReady()).toBe(false);
    vi.advanceTimersByTime(1_999);
    expect(one?.isReady()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(one?.isReady()).toBe(true);
  });

  it('are tried every three seconds after a lost connection, until they answer or are no longer listed', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { readonly port: number };
    const [down, up] = await list([at, { ...at, port }]);
    for (const one of [down, up, up]) one?.lost();
    expect([down?.isReady(), up?.isReady(), vi.getTimerCount()]).toEqual([false, false, 2]);
    vi.advanceTimersByTime(2_999);
    expect(vi.getTimerCount()).toBe(2);
    vi.advanceTimersByTime(1);
    await until(() => up?.isReady() === true && vi.getTimerCount() === 1);
    expect(down?.isReady()).toBe(false);
    await list([]);
    await vi.advanceTimersByTimeAsync(3_000);
    expect([down?.isReady(), vi.getTimerCount()]).toEqual([false, 0]);
    server.close();
  });
});
