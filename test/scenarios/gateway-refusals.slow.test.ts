import { rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { hashOf } from '../unit/gateway/hash-of.ts';
import { startUpstream } from './gateway-upstream.ts';
import { chat, openGateways, rightKey, startTestGateway, type TestGateway, upstreamAt } from './test-gateway.ts';

const { open, opened, endAll } = openGateways();
afterEach(endAll);

/** The status of the answer to a path that no client library would send. */
const statusOf = (gateway: TestGateway, path: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: gateway.running.port, path }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on('error', reject).end();
  });

describe("a gateway's request filter", () => {
  const post = (gateway: TestGateway, body: string, type = 'application/json'): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${rightKey}`, 'content-type': type },
      body,
    });

  it('refuses a body that is not JSON, has no model, or is too large', async () => {
    const upstream = await startUpstream();
    const gateway = await startTestGateway([upstreamAt(upstream.port)], { mostBodyBytes: 1_000 });
    open.push(gateway, { end: upstream.close });
    expect((await post(gateway, '{"model":"tiny"}', 'text/plain')).status).toBe(415);
    expect((await post(gateway, '{')).status).toBe(400);
    expect((await post(gateway, '[]')).status).toBe(400);
    expect((await post(gateway, '{}')).status).toBe(400);
    expect((await post(gateway, JSON.stringify({ model: 'tiny', more: 'x'.repeat(1_000) }))).status).toBe(413);
    expect(upstream.asked).toEqual([]);
  });

  it('refuses fields that would make the runtime load a different model', async () => {
    const upstream = await startUpstream();
    const gateway = await startTestGateway([
      upstreamAt(upstream.port, { refusedFields: ['draft_model', 'adapters', 'num_draft_tokens'] }),
    ]);
    open.push(gateway, { end: upstream.close });
    for (const [field, value] of [
      ['draft_model', 'x'],
      ['adapters', '/tmp/x'],
      ['num_draft_tokens', 0],
    ] as const) {
      const refused = await post(gateway, JSON.stringify({ ...chat(), [field]: value }));
      const body = await refused.json();
      expect([refused.status, body]).toMatchObject([
        400,
        { error: { type: 'invalid_request_error', code: 'unsupported_parameter', param: field } },
      ]);
    }
    expect(upstream.asked).toEqual([]);
    const leftOpen = { draft_model: null, adapters: null, num_draft_tokens: null };
    expect((await post(gateway, JSON.stringify({ ...chat(), ...leftOpen, stop: null, seed: 1 }))).status).toBe(200);
    expect(upstream.asked.map(({ body }) => body)).toEqual([
      { ...chat(), model: 'default_model', stop: null, seed: 1 },
    ]);
    const other = await startTestGateway([upstreamAt(upstream.port)]);
    open.push(other);
    expect((await post(other, JSON.stringify({ ...chat(), adapters: 'x' }))).status).toBe(200);
    expect(upstream.asked[1]?.body).toMatchObject({ adapters: 'x', model: 'default_model' });
  });

  it('forwards only text requests, and only by POST', async () => {
    const { gateway } = await opened();
    const headers = { authorization: `Bearer ${rightKey}` };
    expect((await fetch(`${gateway.url}/v1/chat/completions`, { headers })).status).toBe(405);
    expect((await fetch(`${gateway.url}/v1/models`, { method: 'DELETE', headers })).status).toBe(405);
    for (const path of ['/slots', '/v1/files', '/models/load', '/gateway/other']) {
      expect((await fetch(`${gateway.url}${path}`, { method: 'POST', headers })).status).toBe(404);
    }
  });

  it('answers 400 to an invalid address without logging it', async () => {
    const { gateway } = await opened();
    const logged: unknown[] = [];
    const log = vi.spyOn(process.stderr, 'write').mockImplementation((text) => logged.push(text) > 0);
    try {
      for (const path of ['//', 'http://[']) expect(await statusOf(gateway, path)).toBe(400);
    } finally {
      log.mockRestore();
    }
    expect(logged).toEqual([]);
  });

  it('also accepts the key in x-api-key', async () => {
    const { gateway } = await opened();
    expect((await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': rightKey } })).status).toBe(200);
  });

  it("keeps serving other placements if one placement's key file is unreadable", async () => {
    const upstream = await startUpstream();
    const gateway = await startTestGateway([
      upstreamAt(upstream.port),
      upstreamAt(upstream.port, { placement: 'code', servedName: 'coder' }),
    ]);
    open.push(gateway, { end: upstream.close });
    const names = async () => (await gateway.client.models.list()).data.map(({ id }) => id);
    expect(await names()).toEqual(['tiny', 'coder']);
    writeFileSync(join(gateway.keysFolder, 'code'), '{"keys":');
    expect(await names()).toEqual(['tiny']);
    rmSync(join(gateway.keysFolder, 'code'));
    expect(await names()).toEqual(['tiny']);
    await expect(gateway.client.chat.completions.create(chat('coder'))).rejects.toMatchObject({ status: 404 });
    expect((await gateway.client.chat.completions.create(chat())).choices).toHaveLength(1);
  });

  it('accepts each key in a list until that key is removed', async () => {
    const { gateway } = await opened();
    const [ana, ben] = ['key-of-ana-0123456789', 'key-of-ben-0123456789'] as const;
    gateway.setKeys({ chat: [ana, ben].map(hashOf) });
    for (const key of [ana, ben]) {
      const whole = await gateway.clientWith(key).chat.completions.create(chat());
      expect(whole.choices[0]?.message.content).toBe('Hello there');
    }
    await expect(gateway.client.chat.completions.create(chat())).rejects.toMatchObject({ status: 401 });
    gateway.setKeys({ chat: [hashOf(ben)] });
    await expect(gateway.clientWith(ana).models.list()).rejects.toMatchObject({ status: 401 });
    expect((await gateway.clientWith(ben).models.list()).data).toHaveLength(1);
  });
});
