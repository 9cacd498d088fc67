import { createServer } from 'node:http';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mlx } from '../../src/drivers/mlx/mlx.ts';
import { askByClients, hasClients } from '../python/ask-clients.ts';
import { listening } from '../rack/listening.ts';
import {
  countsOf,
  drawnChats,
  expectCutsToFail,
  expectSameAnswers,
  forwardedBody,
  post,
  postChat,
  received,
  startReplay,
} from '../scenarios/replay.ts';
import { chat, startTestGateway, type TestGateway, upstreamAt } from '../scenarios/test-gateway.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { formOf } from './form-of.ts';
import { type LocalRanks, startRanks } from './local-ranks.ts';
import { oddRequests } from './odd-values.ts';
import { findRealMlx, linkRuntime } from './real-mlx.ts';

const real = findRealMlx();
const place = temporaryFolder();

interface Mesh {
  readonly ranks: LocalRanks;
  readonly gateway: TestGateway;
  readonly stop: () => Promise<void>;
}

/** Real ranks behind a gateway with the driver's rules. */
async function startMesh(size: number): Promise<Mesh> {
  const ranks = await startRanks({ runtime: 'real', model: real?.model ?? '', place }, size);
  const cancels = mlx.cancels?.(size) ?? 'always';
  const gateway = await startTestGateway([upstreamAt(ranks.port, { cancels, maxRequests: 1, ...mlx.api?.() })]);
  const stop = async (): Promise<void> => {
    await ranks.stop();
    await gateway.end();
  };
  return { ranks, gateway, stop };
}

/** An answer of the leader, byte for byte. */
const record = (port: number, body: object): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const text = JSON.stringify({ ...chat('default_model'), max_tokens: 4, ...body });
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: ${text.length}\r\n\r\n`;
    const socket = connect(port, '127.0.0.1', () => socket.write(head + text));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
    socket.on('end', () => resolve(Buffer.concat(chunks)));
  });

/** Starts a long stream, and calls `act` after its first piece. */
async function streamUntil({ client }: TestGateway, act: (abort: AbortController) => void, more = {}): Promise<string> {
  const abort = new AbortController();
  const asked = { ...chat(), max_tokens: 3_000, ...more, stream: true } as const;
  try {
    const stream = await client.chat.completions.create(asked, { signal: abort.signal });
    let pieces = 0;
    for await (const _ of stream) if (++pieces === 1) act(abort);
    return abort.signal.aborted ? 'aborted' : 'whole';
  } catch {
    return 'an error';
  }
}

describe.skipIf(real === undefined)('a gateway in front of the real mlx_lm', { timeout: 400_000 }, () => {
  let mesh: Mesh;
  beforeAll(async () => {
    if (real === undefined) return;
    linkRuntime(place, real);
    mesh = await startMesh(2);
  });
  afterAll(() => mesh?.stop());

  it('answers documented requests as the server would, except where docs/endpoints.md says otherwise', async () => {
    const { ranks, gateway } = mesh;
    await fc.assert(
      fc.asyncProperty(drawnChats, async (drawn) => {
        const body = { ...drawn, max_completion_tokens: 2 };
        const forwarded = forwardedBody(body);
        const answer = await postChat(gateway.url, body);
        const own = forwarded && (await ranks.ask('/v1/chat/completions', forwarded));
        if (own === undefined) expect(answer.status).toBe(400);
        else if (own.status < 400) expect(await formOf(answer)).toEqual(await formOf(own));
        else {
          const { error: message } = (await own.json()) as { readonly error: string };
          expect([answer.status, await answer.json()]).toMatchObject([400, { error: { message } }]);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('survives any field value without stopping the mesh or truncating a response', async () => {
    const { gateway, ranks } = mesh;
    const broken: string[] = [];
    for (const { path, body, what } of oddRequests) {
      const answer = await post(`${gateway.url}${path}`, body);
      const isWhole = await answer.text().then(
        () => answer.status < 500,
        () => false,
      );
      if (!isWhole) broken.push(`${what}: ${answer.status}`);
    }
    expect([broken, ranks.log().includes('generation thread died')]).toEqual([[], false]);
    expect(await received(gateway, { max_tokens: 2 })).toMatch(/^tiny: ./);
  });

  it('never treats a truncated response as complete, wherever it was truncated', async () => {
    const { port } = mesh.ranks;
    const [stream, whole, error] = await Promise.all([
      record(port, { stream: true, stream_options: { include_usage: true } }),
      record(port, {}),
      record(port, { max_tokens: -1 }),
    ]);
    const replay = await startReplay();
    await expectCutsToFail(replay, { stream, whole, error }, 200);
    await expectSameAnswers(replay, { stream, whole, error }, 500);
    await replay.end();
  });

  it('does not let clients make the leader fetch a URL', async () => {
    let fetched = 0;
    const server = createServer((_, response) => {
      fetched += 1;
      response.end();
    });
    const url = `http://127.0.0.1:${await listening(server)}/x`;
    const image = { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] };
    expect((await postChat(mesh.gateway.url, { model: 'tiny', ...image })).status).toBe(400);
    expect(fetched).toBe(0);
    // The server itself would.
    await mesh.ranks.ask('/v1/chat/completions', image);
    expect(fetched).toBe(1);
    server.close();
  });

  it('keeps the mesh running when a client disconnects, even during a request with a seed', async () => {
    for (const more of [{}, { seed: 7 }]) {
      const asked = { max_tokens: 200, ...more };
      expect(await streamUntil(mesh.gateway, (abort) => abort.abort(), asked)).not.toBe('whole');
      expect(await received(mesh.gateway, { max_tokens: 2 })).toMatch(/^tiny: ./);
    }
  });

  it.skipIf(!hasClients)('works with the openai, litellm and anthropic Python clients', async () => {
    const text = expect.stringContaining('Cannot apply chat template to an empty conversation');
    const calls = ['openai chat', 'openai nulls', 'openai stream', 'openai empty', 'litellm chat', 'litellm stream'];
    const [byGateway, byServer] = await askByClients(
      { url: mesh.gateway.url },
      { url: `http://127.0.0.1:${mesh.ranks.port}`, key: 'anything', model: 'default_model', calls },
    );
    expect(byGateway).toEqual({
      'openai models': ['tiny'],
      'openai chat': { model: 'tiny', tokens: 4 },
      'openai nulls': { model: 'tiny', tokens: 4 },
      'openai stream': { hasText: true },
      'openai empty': { error: 'BadRequestError', text },
      'openai responses': { error: 'NotFoundError', text: expect.stringContaining('It has: /v1/chat/completions') },
      'anthropic message': { error: 'NotFoundError', text: expect.stringContaining('It has: /v1/chat/completions') },
      'anthropic stream': { error: 'NotFoundError', text: expect.stringContaining('It has: /v1/chat/completions') },
      'anthropic wrong': { error: 'NotFoundError', text: expect.stringContaining('other') },
      'litellm chat': { model: 'tiny', tokens: 4 },
      'litellm stream': { hasText: true },
      'litellm wrong': { error: 'BadRequestError', text: expect.stringContaining('temperature must be at least 0') },
    });
    // Without a gateway, they can use the server too, but they do not get its reasons.
    expect(byServer).toEqual({
      'openai chat': { model: 'default_model', tokens: 4 },
      'openai nulls': { error: 'BadRequestError', text: 'Error code: 400' },
      'openai stream': { hasText: true },
      'openai empty': { error: 'NotFoundError', text: 'Error code: 404' },
      'litellm chat': { model: 'default_model', tokens: 4 },
      'litellm stream': { hasText: true },
    });
  });

  it('counts a response as failed if a killed rank truncates it, but not if the response is complete', async () => {
    expect(await received(mesh.gateway, { stream: true, max_tokens: 2 })).toMatch(/^tiny: ./);
    const [requests, failed] = await countsOf(mesh.gateway);
    expect(await streamUntil(mesh.gateway, () => mesh.ranks.signal(1, 'SIGKILL'))).toBe('an error');
    expect(await countsOf(mesh.gateway)).toEqual([requests, failed + 1]);
    const dead = await postChat(mesh.gateway.url, chat());
    expect([dead.status, dead.headers.get('retry-after'), await dead.json()]).toMatchObject([
      503,
      '10',
      { error: { message: 'tiny is down: generation thread died' } },
    ]);
  });

  it.each([
    ['of a stream', true],
    ['of an answer in one piece', false],
  ])('reports a failure if the server itself is killed midway %s', async (_, isStreamed) => {
    const alone = await startMesh(1);
    const { gateway, ranks } = alone;
    const kill = () => ranks.signal(0, 'SIGKILL');
    const asked = isStreamed
      ? streamUntil(gateway, kill)
      : received(gateway, { max_tokens: 3_000 }).finally(() => clearTimeout(timer));
    const timer = setTimeout(isStreamed ? () => undefined : kill, 500);
    expect(await asked).toBe('an error');
    expect(await countsOf(gateway)).toEqual([0, 1]);
    await alone.stop();
  });
});
