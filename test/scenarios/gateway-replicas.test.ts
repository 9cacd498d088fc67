import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startGateway, usualLimits } from '../../src/gateway/gateway.ts';
import { hashOf } from '../unit/gateway/hash-of.ts';
import { until } from '../until.ts';
import { startUpstream, type TestUpstream, type UpstreamOptions } from './gateway-upstream.ts';
import { rightKey, upstreamAt } from './test-gateway.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A replica: a runtime behind a gateway, as on one Mac. */
interface TestReplica {
  readonly name: string;
  readonly port: number;
  readonly upstream: TestUpstream;
  readonly list: (others: readonly TestReplica[]) => void;
  readonly setKey: (key: string) => void;
  readonly closeGateway: (reason: string) => void;
  /** Stops the gateway, and so closes its port. */
  readonly stop: () => Promise<void>;
}

async function startReplica(name: string, options: UpstreamOptions = {}, maxRequests = 4): Promise<TestReplica> {
  const upstream = await startUpstream(options);
  const folder = mkdtempSync(join(tmpdir(), 'replica-'));
  const folderOf = (kind: string): string => join(folder, kind);
  for (const kind of ['keys', 'closed', 'replicas']) mkdirSync(folderOf(kind));
  const put = (kind: string, text: string): void => writeFileSync(join(folder, kind, name), text);
  put('keys', JSON.stringify({ keys: [hashOf(rightKey)] }));
  const gateway = await startGateway(
    {
      listen: { address: '127.0.0.1', port: 0 },
      upstreams: [upstreamAt(upstream.port, { placement: name, maxRequests })],
      keysFolder: folderOf('keys'),
      closedFolder: folderOf('closed'),
      replicasFolder: folderOf('replicas'),
      countsFile: folderOf('counts'),
      proxies: [],
    },
    { ...usualLimits, graceMs: 100 },
  );
  const stop = () => gateway.stop();
  ends.push(async () => rmSync(folder, { recursive: true, force: true }), upstream.close, stop);
  return {
    name,
    port: gateway.port,
    upstream,
    list: (others) =>
      put(
        'replicas',
        JSON.stringify(others.map((one) => ({ placement: one.name, host: '127.0.0.1', port: one.port }))),
      ),
    setKey: (key) => put('keys', JSON.stringify({ keys: [hashOf(key)] })),
    closeGateway: (reason) => put('closed', `${reason}\n`),
    stop,
  };
}

/** Two replicas that know each other. */
async function startPair(one: UpstreamOptions = {}, other: UpstreamOptions = {}, maxRequests = 4) {
  const first = await startReplica('chat-a', one, maxRequests);
  const second = await startReplica('chat-b', other, maxRequests);
  first.list([second]);
  second.list([first]);
  return { first, second };
}

async function ask({ port }: TestReplica, more: object = {}) {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${rightKey}` },
    body: JSON.stringify({ model: 'tiny', messages: [{ role: 'user', content: 'Say hello.' }], ...more }),
  });
  return { status: answer.status, text: await answer.text() };
}

const counts = (...all: readonly TestReplica[]): readonly number[] => all.map(({ upstream }) => upstream.asked.length);

describe('a gateway with replicas', () => {
  it("uses its own node's replica if no replica is busy, and sends the runtime's model name", async () => {
    const { first, second } = await startPair();
    expect((await ask(first)).status).toBe(200);
    expect(counts(first, second)).toEqual([1, 0]);
    expect(first.upstream.asked[0]?.body['model']).toBe('default_model');
  });

  it('sends each request to the replica with the fewest requests, and streams the response', async () => {
    const { first, second } = await startPair({ isHeld: true }, { isHeld: true });
    const answers = [1, 2, 3, 4].map(() => ask(first, { stream: true }));
    await until(() => counts(first, second).every((count) => count === 2));
    first.upstream.step();
    second.upstream.step();
    for (const { status, text } of await Promise.all(answers)) {
      expect([status, text.endsWith('data: [DONE]\n\n')]).toEqual([200, true]);
    }
    const [there] = second.upstream.asked;
    expect(there?.headers).not.toHaveProperty('authorization');
    expect(there?.body['model']).toBe('default_model');
  });

  it("tries the next replica if one replica's gateway is down", async () => {
    const { first, second } = await startPair({ isHeld: true });
    const held = ask(first);
    await until(() => first.upstream.asked.length === 1);
    await second.stop();
    const other = ask(first);
    await until(() => first.upstream.asked.length === 2);
    first.upstream.step();
    expect([(await held).status, (await other).status]).toEqual([200, 200]);
  });

  it('answers from another replica while its own runtime is down or closed', async () => {
    const { first, second } = await startPair();
    await first.upstream.close();
    expect((await ask(first)).status).toBe(200);
    first.closeGateway('it was drained by its operator.');
    expect((await ask(first)).status).toBe(200);
    expect(counts(second)).toEqual([2]);
  });

  it("passes a refusal by a replica's runtime on to the client", async () => {
    const { first, second } = await startPair({}, { status: 422 });
    first.closeGateway('it is stopped.');
    expect(await ask(first)).toEqual({ status: 422, text: expect.stringContaining('the runtime declines') });
    expect(counts(second)).toEqual([1]);
  });

  it('answers 503 only if no replica is ready, and names the reasons', async () => {
    const { first, second } = await startPair();
    first.closeGateway('it is stopped.');
    second.closeGateway('it is stopped.');
    expect(await ask(first)).toEqual({
      status: 503,
      text: expect.stringContaining('is not accepting requests: it is stopped.'),
    });
    await second.stop();
    expect(await ask(first)).toEqual({
      status: 503,
      text: expect.stringMatching(/no replica answers: chat-a: it is stopped; chat-b: nothing listens/),
    });
  });

  it('tries the next replica if the first one does not have a new key yet', async () => {
    const { first, second } = await startPair({ isHeld: true });
    second.setKey('an-older-key-0123456789');
    const held = ask(first);
    await until(() => first.upstream.asked.length === 1);
    const other = ask(first);
    await until(() => first.upstream.asked.length === 2);
    first.upstream.step();
    expect([(await held).status, (await other).status]).toEqual([200, 200]);
    expect(counts(second)).toEqual([0]);
  });

  it('does not forward a request that another replica has already forwarded', async () => {
    const { first, second } = await startPair();
    const third = await startReplica('chat-c');
    second.list([first, third]);
    first.closeGateway('it is stopped.');
    second.closeGateway('it is stopped.');
    expect((await ask(first)).status).toBe(503);
    expect(counts(third)).toEqual([0]);
  });

  it('starts using a replica as soon as it is listed, and stops when it is no longer listed', async () => {
    const first = await startReplica('chat-a');
    const second = await startReplica('chat-b');
    first.closeGateway('it is stopped.');
    expect((await ask(first)).status).toBe(503);
    first.list([second]);
    expect((await ask(first)).status).toBe(200);
    first.list([]);
    expect((await ask(first)).status).toBe(503);
    expect(counts(second)).toEqual([1]);
  });

  it('cancels the request to another replica when the client disconnects', async () => {
    const { first, second } = await startPair({}, { isHeld: true });
    first.closeGateway('it is stopped.');
    const leaving = new AbortController();
    const gone = fetch(`http://127.0.0.1:${first.port}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${rightKey}` },
      body: JSON.stringify({ model: 'tiny', messages: [] }),
      signal: leaving.signal,
    });
    await until(() => second.upstream.running() === 1);
    leaving.abort();
    await expect(gone).rejects.toThrow();
    await until(() => second.upstream.brokenOff() === 1);
  });
});
