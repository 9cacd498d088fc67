import { rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { hashOf } from '../unit/gateway/hash-of.ts';
import { chat, rightKey, startDoor, type TestDoor, upstreamAt } from './doorman-door.ts';
import { startUpstream, type TestUpstream } from './doorman-upstream.ts';

const open: { end: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.end();
});

async function opened(): Promise<{ door: TestDoor; upstream: TestUpstream }> {
  const upstream = await startUpstream();
  const door = await startDoor([upstreamAt(upstream.port)]);
  open.push(door, { end: upstream.close });
  return { door, upstream };
}

/** The status of the answer to a path that no client library would send. */
const statusOf = (door: TestDoor, path: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: door.doorman.port, path }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on('error', reject).end();
  });

describe("a gateway's request filter", () => {
  const post = (door: TestDoor, body: string, type = 'application/json'): Promise<Response> =>
    fetch(`${door.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${rightKey}`, 'content-type': type },
      body,
    });

  it('refuses a body that is not JSON, has no model, or is too large', async () => {
    const upstream = await startUpstream();
    const door = await startDoor([upstreamAt(upstream.port)], { mostBodyBytes: 1_000 });
    open.push(door, { end: upstream.close });
    expect((await post(door, '{"model":"tiny"}', 'text/plain')).status).toBe(415);
    expect((await post(door, '{')).status).toBe(400);
    expect((await post(door, '[]')).status).toBe(400);
    expect((await post(door, '{}')).status).toBe(400);
    expect((await post(door, JSON.stringify({ model: 'tiny', more: 'x'.repeat(1_000) }))).status).toBe(413);
    expect(upstream.asked).toEqual([]);
  });

  it('refuses fields that would make the runtime load a different model', async () => {
    const upstream = await startUpstream();
    const door = await startDoor([
      upstreamAt(upstream.port, { refusedFields: ['draft_model', 'adapters', 'num_draft_tokens'] }),
    ]);
    open.push(door, { end: upstream.close });
    for (const [field, value] of [
      ['draft_model', 'x'],
      ['adapters', '/tmp/x'],
      ['num_draft_tokens', 0],
    ] as const) {
      const refused = await post(door, JSON.stringify({ ...chat(), [field]: value }));
      const body = await refused.json();
      expect([refused.status, body]).toMatchObject([
        400,
        { error: { type: 'invalid_request_error', code: 'unsupported_parameter', param: field } },
      ]);
    }
    expect(upstream.asked).toEqual([]);
    const leftOpen = { draft_model: null, adapters: null, num_draft_tokens: null };
    expect((await post(door, JSON.stringify({ ...chat(), ...leftOpen, stop: null, seed: 1 }))).status).toBe(200);
    expect(upstream.asked.map(({ body }) => body)).toEqual([
      { ...chat(), model: 'default_model', stop: null, seed: 1 },
    ]);
    const other = await startDoor([upstreamAt(upstream.port)]);
    open.push(other);
    expect((await post(other, JSON.stringify({ ...chat(), adapters: 'x' }))).status).toBe(200);
    expect(upstream.asked[1]?.body).toMatchObject({ adapters: 'x', model: 'default_model' });
  });

  it('forwards only text requests, and only by POST', async () => {
    const { door } = await opened();
    const headers = { authorization: `Bearer ${rightKey}` };
    expect((await fetch(`${door.url}/v1/chat/completions`, { headers })).status).toBe(405);
    expect((await fetch(`${door.url}/v1/models`, { method: 'DELETE', headers })).status).toBe(405);
    for (const path of ['/slots', '/v1/files', '/models/load', '/doorman/other']) {
      expect((await fetch(`${door.url}${path}`, { method: 'POST', headers })).status).toBe(404);
    }
  });

  it('answers 400 to an invalid address without logging it', async () => {
    const { door } = await opened();
    const logged: unknown[] = [];
    const log = vi.spyOn(process.stderr, 'write').mockImplementation((text) => logged.push(text) > 0);
    try {
      for (const path of ['//', 'http://[']) expect(await statusOf(door, path)).toBe(400);
    } finally {
      log.mockRestore();
    }
    expect(logged).toEqual([]);
  });

  it('hides its counts from clients behind a proxy', async () => {
    const { door } = await opened();
    expect((await fetch(`${door.url}/doorman/status`)).status).toBe(200);
    for (const name of ['forwarded', 'x-forwarded-for', 'X-Forwarded-Proto', 'via', 'X-Real-IP']) {
      for (const path of ['status', 'inside/chat']) {
        expect((await fetch(`${door.url}/doorman/${path}`, { headers: { [name]: 'x' } })).status).toBe(404);
      }
    }
  });

  it('accepts the key in x-api-key too', async () => {
    const { door } = await opened();
    expect((await fetch(`${door.url}/v1/models`, { headers: { 'x-api-key': rightKey } })).status).toBe(200);
  });

  it('keeps serving other placements if the key file of one is unreadable', async () => {
    const upstream = await startUpstream();
    const door = await startDoor([
      upstreamAt(upstream.port),
      upstreamAt(upstream.port, { placement: 'code', servedName: 'coder' }),
    ]);
    open.push(door, { end: upstream.close });
    const names = async () => (await door.client.models.list()).data.map(({ id }) => id);
    expect(await names()).toEqual(['tiny', 'coder']);
    writeFileSync(join(door.keysFolder, 'code'), '{"keys":');
    expect(await names()).toEqual(['tiny']);
    rmSync(join(door.keysFolder, 'code'));
    expect(await names()).toEqual(['tiny']);
    await expect(door.client.chat.completions.create(chat('coder'))).rejects.toMatchObject({ status: 404 });
    expect((await door.client.chat.completions.create(chat())).choices).toHaveLength(1);
  });

  it('accepts each key in a list until that key is removed', async () => {
    const { door } = await opened();
    const [ana, ben] = ['key-of-ana-0123456789', 'key-of-ben-0123456789'] as const;
    door.setKeys({ chat: [ana, ben].map(hashOf) });
    for (const key of [ana, ben]) {
      const whole = await door.clientWith(key).chat.completions.create(chat());
      expect(whole.choices[0]?.message.content).toBe('Hello there');
    }
    await expect(door.client.chat.completions.create(chat())).rejects.toMatchObject({ status: 401 });
    door.setKeys({ chat: [hashOf(ben)] });
    await expect(door.clientWith(ana).models.list()).rejects.toMatchObject({ status: 401 });
    expect((await door.clientWith(ben).models.list()).data).toHaveLength(1);
  });
});
