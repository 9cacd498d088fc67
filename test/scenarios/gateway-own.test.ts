import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../until.ts';
import { chat, openGateways, ownHeaders, rightKey, type TestGateway } from './test-gateway.ts';

const { opened, endAll } = openGateways({ maxRequests: 1, cancels: 'never' });
afterEach(endAll);

const question = JSON.stringify({ model: 'default_model', max_tokens: 1 });

/** A request for a token as a node sends it, with these headers. */
async function askOwn(gateway: TestGateway, own: Readonly<Record<string, string>> = {}, init: RequestInit = {}) {
  const headers = { 'content-type': 'application/json', ...ownHeaders, ...own };
  const answer = await fetch(`${gateway.url}/gateway/ask/chat/v1/chat/completions`, {
    method: 'POST',
    body: question,
    ...init,
    headers,
  });
  return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
}

const inFlight = async (gateway: TestGateway): Promise<unknown> =>
  (await fetch(`${gateway.url}/gateway/ask/chat`, { headers: ownHeaders })).json();

describe('a token request from the node to its gateway', () => {
  it('is forwarded unchanged without a key, and is not counted', async () => {
    const { gateway, upstream } = await opened();
    expect(await askOwn(gateway, { 'meshwright-wait': '1000' })).toMatchObject({
      status: 200,
      body: { choices: [expect.anything()] },
    });
    expect(upstream.asked.map(({ path, body }) => [path, body])).toEqual([
      ['/v1/chat/completions', JSON.parse(question)],
    ]);
    expect((await gateway.status()).placements[0]?.counts).toMatchObject({ requests: 0, tokens: 0 });
  });

  it('is forwarded while the gateway is closed to clients', async () => {
    const { gateway } = await opened();
    gateway.closeGateway('chat', 'it is starting.');
    expect((await askOwn(gateway)).status).toBe(200);
  });

  it("never runs in parallel with a client's request, but waits its turn", async () => {
    const { gateway, upstream } = await opened({ isHeld: true });
    const client = gateway.client.chat.completions.create(chat());
    await until(() => upstream.running() === 1);
    expect(await askOwn(gateway, { 'meshwright-wait': '0' })).toEqual({
      status: 425,
      body: { running: 1, waiting: 0 },
    });
    // By the time that a later request has its answer, this one waits.
    const own = askOwn(gateway, { 'meshwright-wait': '60000' });
    expect((await askOwn(gateway, { 'meshwright-wait': '0' })).status).toBe(425);
    upstream.step();
    expect([(await own).status, (await client).object, upstream.mostAtOnce()]).toEqual([200, 'chat.completion', 1]);
  });

  it("is refused if a client has just received a token; the refusal shows the token's age", async () => {
    const { gateway, upstream } = await opened();
    await gateway.client.chat.completions.create(chat());
    expect(await askOwn(gateway, { 'meshwright-proof': 'traffic' })).toEqual({
      status: 425,
      body: { running: 0, waiting: 0, lastTokenMsAgo: expect.any(Number) },
    });
    expect(upstream.asked).toHaveLength(1);
    expect((await askOwn(gateway)).status).toBe(200);
  });

  it('is forwarded if the gateway was closed after the last client token', async () => {
    const { gateway } = await opened();
    await gateway.client.chat.completions.create(chat());
    gateway.closeGateway('chat', 'it is starting.');
    expect((await askOwn(gateway)).status).toBe(200);
    gateway.openGateway('chat');
    expect((await askOwn(gateway, { 'meshwright-proof': 'traffic' })).status).toBe(200);
  });

  it('is forwarded if a client received only bytes without text', async () => {
    const { gateway, upstream } = await opened({ isHeld: true }, { maxRequests: 2 });
    const stream = await gateway.client.chat.completions.create({ ...chat(), stream: true });
    await until(async () => (await gateway.status()).placements[0]?.lastByteMsAgo !== undefined);
    const own = askOwn(gateway, { 'meshwright-proof': 'traffic' });
    await until(() => upstream.asked.length === 2);
    upstream.step();
    expect((await own).status).toBe(200);
    for await (const _ of stream);
  });

  it('neither counts as traffic nor delays a drain, and reports its age', async () => {
    const { gateway, upstream } = await opened({ isHeld: true });
    const leaves = new AbortController();
    const first = askOwn(gateway, {}, { signal: leaves.signal }).catch(() => 'left');
    await until(() => upstream.running() === 1);
    leaves.abort();
    await first;
    expect([await inFlight(gateway), (await gateway.status()).placements[0]?.running]).toEqual([0, 0]);
    expect(await (await fetch(`${gateway.url}/gateway/in-flight/chat`, { headers: ownHeaders })).json()).toBe(0);
    expect(await askOwn(gateway, { 'meshwright-wait': '0' })).toEqual({
      status: 425,
      body: { running: 0, waiting: 0, ownMs: expect.any(Number) },
    });
    expect(upstream.mostAtOnce()).toBe(1);
    upstream.step();
  });

  it("is refused without the node's secret, even if it comes from the node's address", async () => {
    const { gateway, upstream } = await opened();
    for (const secret of ['', 'x', `${ownHeaders['meshwright-own']}x`]) {
      expect((await askOwn(gateway, { 'meshwright-own': secret })).status).toBe(401);
    }
    for (const path of ['status', 'inside/chat', 'ask/chat']) {
      expect((await fetch(`${gateway.url}/gateway/${path}`)).status).toBe(401);
      const headers = { authorization: `Bearer ${rightKey}` };
      expect((await fetch(`${gateway.url}/gateway/${path}`, { headers })).status).toBe(404);
    }
    expect(upstream.asked).toEqual([]);
  });

  it('reaches only the path that its check needs', async () => {
    const { gateway, upstream } = await opened();
    for (const path of ['/v1/load_model', '/slots/0?action=erase', '/v1/chat/completions?a=1', '/v1/chat/../load']) {
      const answer = await fetch(`${gateway.url}/gateway/ask/chat${path}`, {
        method: 'POST',
        body: question,
        headers: { ...ownHeaders, 'content-type': 'application/json' },
      });
      expect(answer.status).toBe(404);
    }
    expect(upstream.asked).toEqual([]);
  });

  it('is refused for an unknown placement, an invalid body or an invalid method', async () => {
    const { gateway, upstream } = await opened();
    expect((await fetch(`${gateway.url}/gateway/ask/other`, { headers: ownHeaders })).status).toBe(404);
    expect((await askOwn(gateway, {}, { body: 'Hi' })).status).toBe(400);
    expect((await askOwn(gateway, {}, { method: 'PUT' })).status).toBe(405);
    expect(upstream.asked).toEqual([]);
  });
});
