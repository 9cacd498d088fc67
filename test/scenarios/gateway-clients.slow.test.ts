import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { hashOf } from '../unit/gateway/hash-of.ts';
import { until } from '../until.ts';
import { startUpstream } from './gateway-upstream.ts';
import { chat, openGateways, rightKey, startTestGateway, upstreamAt } from './test-gateway.ts';

const { open, opened, endAll } = openGateways();
afterEach(endAll);

async function textOf(stream: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  return text;
}

const errorOf = async (work: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OpenAI.APIError)) throw new Error(`no error of the API: ${String(error)}`);
  return error;
};

describe('the gateway in front of a mesh', () => {
  it('answers in full or as a stream, and sends the runtime its own model name and no key', async () => {
    const { gateway, upstream } = await opened();
    const whole = await gateway.client.chat.completions.create(chat());
    expect(whole.choices[0]?.message.content).toBe('Hello there');
    const stream = await gateway.client.chat.completions.create({ ...chat(), stream: true });
    expect(await textOf(stream)).toBe('Hello there');
    expect(upstream.asked.map(({ body }) => body['model'])).toEqual(['default_model', 'default_model']);
    expect(upstream.asked.flatMap(({ headers }) => [headers.authorization, headers['x-api-key']])).toEqual(
      Array(4).fill(undefined),
    );
  });

  it('forwards a stream piece by piece while the runtime is still generating', async () => {
    const { gateway, upstream } = await opened({ isHeld: true, words: ['a', 'b', 'c'] });
    const stream = await gateway.client.chat.completions.create({ ...chat(), stream: true });
    const seen: string[] = [];
    upstream.step(1);
    for await (const chunk of stream) {
      const text = chunk.choices[0]?.delta.content ?? '';
      if (text === '') continue;
      seen.push(text);
      // The next piece is written only after this one has arrived.
      expect(upstream.written()).toBe(seen.length);
      upstream.step(1);
    }
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  it('lists only the served name, and refuses other names with a list of valid names', async () => {
    const { gateway, upstream } = await opened();
    const models = await gateway.client.models.list();
    expect(models.data.map(({ id }) => id)).toEqual(['tiny']);
    expect((await gateway.client.models.retrieve('tiny')).id).toBe('tiny');
    const error = await errorOf(gateway.client.chat.completions.create(chat('mlx-community/Kimi')));
    expect([error.status, error.code, error.param]).toEqual([404, 'model_not_found', 'model']);
    expect(error.message).toContain('There is: tiny.');
    expect((await errorOf(gateway.client.models.retrieve('other'))).status).toBe(404);
    expect((await errorOf(gateway.client.chat.completions.create(chat('default_model')))).status).toBe(404);
    expect(upstream.asked).toEqual([]);
  });

  it('refuses a wrong or missing key on every path', async () => {
    const { gateway, upstream } = await opened();
    for (const key of ['wrong', `${rightKey}x`, hashOf(rightKey)]) {
      const error = await errorOf(gateway.clientWith(key).chat.completions.create(chat()));
      expect([error.status, error.code]).toEqual([401, 'invalid_api_key']);
      expect((await errorOf(gateway.clientWith(key).models.list())).status).toBe(401);
    }
    for (const path of ['/v1/models', '/v1/chat/completions', '/', '/health', '/metrics']) {
      expect((await fetch(`${gateway.url}${path}`)).status).toBe(401);
    }
    expect(upstream.asked).toEqual([]);
    expect((await gateway.status()).strangers).toBe(11);
  });

  it('accepts a key as soon as it is installed, and refuses it as soon as it is removed', async () => {
    const { gateway } = await opened();
    gateway.setKeys({ chat: [hashOf('another-key-of-the-tests')] });
    expect((await errorOf(gateway.client.models.list())).status).toBe(401);
    expect((await gateway.clientWith('another-key-of-the-tests').models.list()).data).toHaveLength(1);
    gateway.setKeys({ chat: 'anybody' });
    expect((await gateway.clientWith('whatever').models.list()).data).toHaveLength(1);
  });

  it('reports requests in flight and how long the runtime has been silent', async () => {
    const { gateway, upstream } = await opened({ isHeld: true });
    const asked = gateway.client.chat.completions.create({ ...chat(), stream: true }).then(textOf);
    await until(() => upstream.running() === 1);
    const state = async () => (await gateway.status()).placements[0];
    expect(await state()).toMatchObject({ running: 1, quietMs: expect.any(Number), streamQuietMs: expect.any(Number) });
    expect(await state()).not.toHaveProperty('closed');
    upstream.step(1);
    await until(async () => (await state())?.lastByteMsAgo !== undefined);
    upstream.step();
    await asked;
    expect(await state()).toMatchObject({ running: 0, lastByteMsAgo: expect.any(Number) });
    expect(await state()).not.toHaveProperty('quietMs');
  });

  it("answers 200 parallel requests without exceeding the runtime's limit", async () => {
    const { gateway, upstream } = await opened({ isHeld: true }, { maxRequests: 5 });
    const asked = Array.from({ length: 200 }, (_, at) =>
      at % 2 === 0
        ? gateway.client.chat.completions.create(chat()).then((one) => one.choices[0]?.message.content)
        : gateway.client.chat.completions.create({ ...chat(), stream: true }).then(textOf),
    );
    await until(async () => {
      const [now] = (await gateway.status()).placements;
      return now?.running === 5 && now.waiting === 195;
    });
    upstream.step();
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['Hello there']));
    expect(upstream.mostAtOnce()).toBe(5);
    const [after] = (await gateway.status()).placements;
    expect(after?.counts).toMatchObject({ requests: 200, failed: 0, refused: 0, tokens: 600 });
    expect(after?.counts.firstToken.count).toBe(100);
    expect([after?.running, after?.waiting]).toEqual([0, 0]);
  });

  it('counts the tokens that the runtime reports and saves the count', async () => {
    const { gateway } = await opened({ usage: 41 });
    await textOf(await gateway.client.chat.completions.create({ ...chat(), stream: true }));
    expect((await gateway.status()).placements[0]?.counts.tokens).toBe(41);
    await gateway.running.keepCounts();
    const kept: unknown = JSON.parse(readFileSync(gateway.countsFile, 'utf8'));
    expect(kept).toMatchObject({ chat: { requests: 1, tokens: 41 } });
  });

  it('aborts an answer at the runtime when its client disconnects, and serves the next request', async () => {
    const { gateway, upstream } = await opened({ isHeld: true }, { maxRequests: 1 });
    const abort = new AbortController();
    const stream = await gateway.client.chat.completions.create({ ...chat(), stream: true }, { signal: abort.signal });
    const next = gateway.client.chat.completions.create(chat());
    abort.abort();
    await textOf(stream).catch(() => '');
    await until(() => upstream.brokenOff() === 1);
    upstream.step();
    expect((await next).choices[0]?.message.content).toBe('Hello there');
    expect((await gateway.status()).placements[0]?.counts).toMatchObject({ requests: 1, failed: 1 });
  });

  it('keeps reading an abandoned response if the runtime would generate it to the end anyway', async () => {
    for (const [cancels, stream] of [
      ['never', true],
      ['streams', false],
    ] as const) {
      const { gateway, upstream } = await opened({ isHeld: true }, { maxRequests: 1, cancels });
      const abort = new AbortController();
      const { signal } = abort;
      const asked = gateway.client.chat.completions.create({ ...chat(), stream }, { signal });
      await until(() => upstream.running() === 1);
      abort.abort();
      await asked.catch(() => undefined);
      const next = gateway.client.chat.completions.create(chat());
      await until(async () => (await gateway.status()).placements[0]?.waiting === 1);
      expect(upstream.running()).toBe(1);
      upstream.step();
      await next;
      expect([upstream.brokenOff(), upstream.mostAtOnce()]).toEqual([0, 1]);
    }
  });

  it('drops a waiting request when its client disconnects', async () => {
    const { gateway, upstream } = await opened({ isHeld: true }, { maxRequests: 1 });
    const first = gateway.client.chat.completions.create(chat());
    await until(() => upstream.running() === 1);
    const abort = new AbortController();
    const second = gateway.client.chat.completions.create(chat(), { signal: abort.signal });
    await until(async () => (await gateway.status()).placements[0]?.waiting === 1);
    abort.abort();
    await second.catch(() => undefined);
    await until(async () => (await gateway.status()).placements[0]?.waiting === 0);
    upstream.step();
    await first;
    expect(upstream.asked).toHaveLength(1);
  });

  it('throttles the runtime while the client does not read', async () => {
    const { gateway, upstream } = await opened({ words: Array.from({ length: 4_000 }, () => 'x'.repeat(8_192)) });
    const body = JSON.stringify({ ...chat(), stream: true });
    const headers = { authorization: `Bearer ${rightKey}`, 'content-type': 'application/json' };
    const asked = request(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers });
    asked.end(body);
    const answer = await new Promise<IncomingMessage>((resolve) => asked.on('response', resolve));
    // 32 MB do not fit into the buffers of four sockets.
    let [before, same] = [-1, 0];
    await until(() => {
      same = upstream.written() === before ? same + 1 : 0;
      before = upstream.written();
      return before > 0 && same > 50;
    });
    expect(upstream.written()).toBeLessThan(4_000);
    let size = 0;
    for await (const chunk of answer) size += chunk.length;
    expect(size).toBeGreaterThan(4_000 * 8_192);
  });
});

describe('the gateway in front of a mesh that is down, closed or failing', () => {
  it("answers 503 with the reason while nothing listens on the runtime's port", async () => {
    const { gateway, upstream } = await opened();
    await upstream.close();
    const error = await errorOf(gateway.client.chat.completions.create(chat()));
    expect([error.status, error.code]).toEqual([503, 'mesh_down']);
    expect(error.message).toContain('tiny is down: nothing listens on its port');
    expect(error.headers?.get('retry-after')).toBe('10');
    // The name stays in the list, so that clients keep their settings.
    expect((await gateway.client.models.list()).data.map(({ id }) => id)).toEqual(['tiny']);
  });

  it('forwards an error from the runtime', async () => {
    const { gateway } = await opened({ status: 400 });
    const error = await errorOf(gateway.client.chat.completions.create(chat()));
    expect([error.status, error.code]).toEqual([400, 'declined']);
  });

  it('drops the connection of a stream that the runtime aborts, so no client considers it complete', async () => {
    const { gateway, upstream } = await opened({ isHeld: true, breaksAfter: 1 });
    const stream = await gateway.client.chat.completions.create({ ...chat(), stream: true });
    upstream.step();
    await expect(textOf(stream)).rejects.toThrow();
    expect((await gateway.status()).placements[0]?.counts).toMatchObject({ requests: 0, failed: 1 });
  });

  it('refuses new requests with 503 and the reason while it drains, and completes those in flight', async () => {
    const { gateway, upstream } = await opened({ isHeld: true }, { maxRequests: 8 });
    const inside = Array.from({ length: 8 }, () =>
      gateway.client.chat.completions.create({ ...chat(), stream: true }).then(textOf),
    );
    await until(() => upstream.running() === 8);
    const waiting = Array.from({ length: 3 }, () => gateway.client.chat.completions.create(chat()));
    // Otherwise those of an attempt that fails would also fail the next attempt.
    for (const one of [...inside, ...waiting]) one.catch(() => undefined);
    await until(async () => (await gateway.status()).placements[0]?.waiting === 3);
    gateway.closeGateway('chat', 'it is being restarted.');
    const refused = await Promise.all(
      Array.from({ length: 20 }, () => errorOf(gateway.client.chat.completions.create(chat()))),
    );
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    expect(refused[0]?.message).toContain('tiny is not accepting requests: it is being restarted.');
    expect(refused[0]?.headers?.get('retry-after')).toBe('30');
    const [shut] = (await gateway.status()).placements;
    expect(shut).toMatchObject({ closed: 'it is being restarted.', running: 8, waiting: 3 });
    upstream.step();
    expect(await Promise.all(inside)).toEqual(Array(8).fill('Hello there'));
    const served = (await Promise.all(waiting)).map(({ choices: [first] }) => first?.message.content);
    expect(served).toEqual(Array(3).fill('Hello there'));
    expect(upstream.asked).toHaveLength(11);
    gateway.openGateway('chat');
    expect((await gateway.client.chat.completions.create(chat())).choices).toHaveLength(1);
  });

  it('stops only after the answers in flight are complete', async () => {
    const { gateway, upstream } = await opened({ isHeld: true });
    const inside = gateway.client.chat.completions.create({ ...chat(), stream: true }).then(textOf);
    await until(() => upstream.running() === 1);
    const stopped = gateway.running.stop();
    upstream.step();
    expect(await inside).toBe('Hello there');
    await stopped;
    await expect(fetch(`${gateway.url}/v1/models`)).rejects.toThrow();
  });

  it('serves several placements under one URL, each with its own keys', async () => {
    const [one, two] = [await startUpstream({ words: ['one'] }), await startUpstream({ words: ['two'] })];
    const gateway = await startTestGateway([
      upstreamAt(one.port),
      upstreamAt(two.port, { placement: 'code', servedName: 'coder', model: '/models/coder' }),
    ]);
    open.push(gateway, { end: one.close }, { end: two.close });
    gateway.setKeys({ chat: [hashOf('key-for-chat')], code: [hashOf('key-for-chat'), hashOf('key-for-code')] });
    const both = await gateway.clientWith('key-for-chat').models.list();
    expect(both.data.map(({ id }) => id)).toEqual(['tiny', 'coder']);
    const coder = await gateway.clientWith('key-for-code').chat.completions.create(chat('coder'));
    expect(coder.choices[0]?.message.content).toBe('two');
    expect(two.asked[0]?.body['model']).toBe('/models/coder');
    const error = await errorOf(gateway.clientWith('key-for-code').chat.completions.create(chat('tiny')));
    expect([error.status, error.message.includes('There is: coder.')]).toEqual([404, true]);
    gateway.closeGateway('chat', 'its nodes are restarted.');
    expect((await gateway.clientWith('key-for-chat').chat.completions.create(chat('coder'))).choices).toHaveLength(1);
  });
});
