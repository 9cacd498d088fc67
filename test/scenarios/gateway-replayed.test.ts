import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import '../property-seed.ts';
import { mlx } from '../../src/drivers/mlx/mlx.ts';
import { listening } from '../rack/listening.ts';
import { runs } from '../runs.ts';
import { chat, rightKey, startTestGateway, type TestGateway, upstreamAt } from './test-gateway.ts';

/** Answers of mlx_lm.server 0.32.2, byte for byte but for the names of the system. */
const recorded = (name: string): Buffer =>
  readFileSync(new URL(`../cases/recorded/mlx-0.32.2/${name}.http`, import.meta.url));
const [stream, whole, error, refusal] = ['stream', 'whole', 'error', 'refusal'].map(recorded) as [
  Buffer,
  Buffer,
  Buffer,
  Buffer,
];

/** The next answer, and how its connection ends; and the body of the last request. */
const next = { answer: whole, isReset: false, asked: {} as Readonly<Record<string, unknown>> };

function replay(socket: Socket): void {
  let asked = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    asked += chunk;
    const [head, body = ''] = asked.split('\r\n\r\n');
    if (Buffer.byteLength(body) < Number(/content-length: (\d+)/i.exec(head ?? '')?.[1])) return;
    next.asked = JSON.parse(body);
    const end = () => (next.isReset ? socket.resetAndDestroy() : socket.end());
    if (next.answer.length === 0) end();
    else socket.write(next.answer, end);
  });
}

let gateway: TestGateway;
const server = createServer(replay);
beforeAll(async () => {
  const port = await listening(server);
  gateway = await startTestGateway([upstreamAt(port, { cancels: 'streams', ...mlx.api })]);
});
afterAll(async () => {
  await gateway.end();
  server.close();
});

const counts = async () => {
  const [{ counts } = { counts: { requests: 0, failed: 0 } }] = (await gateway.status()).placements;
  return [counts.requests, counts.failed] as const;
};

/** What a client of the OpenAI API receives: the text of a stream or answer, or that there was an error. */
async function received(isStreamed: boolean): Promise<string> {
  try {
    if (!isStreamed) {
      const answer = await gateway.client.chat.completions.create(chat());
      return `${answer.model}: ${answer.choices[0]?.message.content}`;
    }
    let text = '';
    for await (const { model, choices } of await gateway.client.chat.completions.create({ ...chat(), stream: true })) {
      text ||= `${model}: `;
      text += choices[0]?.delta.content ?? '';
    }
    return text;
  } catch {
    return 'an error';
  }
}

describe('an answer of a runtime that ends too early', () => {
  it('is an error for the client and in the counts, at whichever byte and however it ends', async () => {
    const answers = {
      stream: [stream, 'tiny: **1 l'],
      whole: [whole, 'tiny: **1 l11'],
      error: [error, 'an error'],
    } as const;
    const cut = fc.record({
      kind: fc.constantFrom('stream', 'whole', 'error'),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      isReset: fc.boolean(),
    });
    const edges = (['stream', 'whole'] as const).flatMap((kind) =>
      [true, false].flatMap((isReset) => [1, 0.9999].map((share) => ({ kind, share, isReset }))),
    );
    await fc.assert(
      fc.asyncProperty(cut, async ({ kind, share, isReset }) => {
        const [answer, text] = answers[kind];
        const bytes = Math.floor(share * answer.length);
        const isCut = bytes < answer.length || kind === 'error';
        Object.assign(next, { answer: answer.subarray(0, bytes), isReset });
        const [requests, failed] = await counts();
        expect(await received(kind === 'stream')).toBe(isCut ? 'an error' : text);
        expect(await counts()).toEqual(isCut ? [requests, failed + 1] : [requests + 1, failed]);
      }),
      {
        numRuns: runs(200),
        examples: edges.map((one): [typeof one] => [one]),
      },
    );
  });

  it('resets the connection of a client that speaks HTTP/1.0, whose end would be the end of the answer', async () => {
    Object.assign(next, { answer: stream.subarray(0, -20), isReset: false });
    const { connect } = await import('node:net');
    const ended = await new Promise<string>((resolve) => {
      const body = JSON.stringify({ ...chat(), stream: true });
      const head = `POST /v1/chat/completions HTTP/1.0\r\nauthorization: Bearer ${rightKey}\r\ncontent-type: application/json`;
      const socket = connect(gateway.running.port, '127.0.0.1', () =>
        socket.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
      );
      socket
        .on('error', (problem) => resolve('code' in problem ? String(problem.code) : ''))
        .on('end', () => resolve('ended'));
      socket.resume();
    });
    expect(ended).toBe('ECONNRESET');
  });
});

describe("a runtime's error", () => {
  const answered = async (answer: Buffer | string) => {
    Object.assign(next, { answer: Buffer.from(answer), isReset: false });
    return gateway.client.chat.completions.create(chat()).then(
      () => undefined,
      ({ status, error }: { status: number; error: unknown }) => ({ status, error }),
    );
  };

  it('reaches the client with its reason, and not as a wrong model', async () => {
    const message = 'Cannot apply chat template to an empty conversation. Provide at least one message.';
    const type = 'invalid_request_error';
    expect(await answered(refusal)).toMatchObject({ status: 400, error: { message, type, param: null, code: null } });
    expect(await answered(error)).toMatchObject({
      status: 400,
      error: { message: 'max_tokens must be at least 1', type },
    });
    const own = '{"error":{"message":"no","type":"t","code":7}}';
    for (const [status, body, message] of [
      [500, '{"detail":"it broke"}', 'it broke'],
      [404, 'Not Found', 'Not Found'],
      [501, '', 'The runtime returned 501.'],
      [429, own, 'no'],
      [400, 'x'.repeat(70_000), 'x'.repeat(2_000)],
    ] as const) {
      const seen = await answered(`HTTP/1.0 ${status} X\r\n\r\n${body}`);
      expect(seen).toMatchObject({ status: status === 404 ? 400 : status, error: { message } });
      if (body === own) expect(seen?.error).toMatchObject({ type: 't', code: 7 });
    }
  });

  it('becomes 503 once the runtime can answer nothing until it is started again', async () => {
    for (const [status, text] of [
      [404, 'generation thread died'],
      [503, 'Loading model'],
    ] as const) {
      expect(await answered(`HTTP/1.0 ${status} X\r\n\r\n{"error": "${text}"}`)).toMatchObject({
        status: 503,
        error: { message: `tiny is down: ${text}`, code: 'mesh_down' },
      });
    }
  });

  it('in the middle of a stream counts as a failure', async () => {
    const [requests, failed] = await counts();
    const head = stream.subarray(0, stream.indexOf('\r\n\r\n') + 4);
    const events = 'data: {"choices":[]}\n\ndata: {"error":{"message":"broken"}}\n\ndata: [DONE]\n\n';
    Object.assign(next, { answer: Buffer.concat([head, Buffer.from(events)]), isReset: false });
    expect(await received(true)).toBe('an error');
    expect(await counts()).toEqual([requests, failed + 1]);
  });
});

describe('a request of the openai client', () => {
  /** Every field that the API documents for a chat, with values of the right kind; null is allowed for all of them. */
  const fields = {
    audio: [{ voice: 'alloy', format: 'wav' }],
    frequency_penalty: [0, -0.5],
    function_call: ['auto'],
    functions: [[]],
    logit_bias: [{ 1: 2 }],
    logprobs: [true, false],
    max_completion_tokens: [3],
    max_tokens: [2],
    metadata: [{ a: 'b' }],
    modalities: [['text']],
    moderation: [{}],
    n: [1, 2],
    parallel_tool_calls: [true],
    prediction: [{ type: 'content', content: 'x' }],
    presence_penalty: [0.25],
    prompt_cache_key: ['k'],
    reasoning_effort: ['low'],
    response_format: [{ type: 'json_object' }],
    safety_identifier: ['s'],
    seed: [1],
    service_tier: ['auto'],
    stop: ['\n', ['a', 'b']],
    store: [false],
    stream_options: [{ include_usage: true }],
    temperature: [0, 1.5],
    tool_choice: ['none'],
    tools: [
      [{ type: 'function', function: { name: 'f', parameters: { properties: { url: { default: 'http://a' } } } } }],
    ],
    top_logprobs: [3],
    top_p: [0.5],
    user: ['u'],
    verbosity: ['low'],
    web_search_options: [{}],
    draft_model: ['other'],
    adapters: ['/tmp/x'],
    num_draft_tokens: [2],
  } as const satisfies Readonly<Record<string, readonly unknown[]>>;

  const image = (url: string) => [{ type: 'image_url', image_url: { url } }];
  const contents = [
    'Hi',
    [{ type: 'text', text: 'http://a' }],
    image('data:image/png;base64,AA'),
    image('http://127.0.0.1/x'),
  ];
  const drawn = fc.record(
    {
      ...Object.fromEntries(Object.entries(fields).map(([name, all]) => [name, fc.constantFrom(null, ...all)])),
      content: fc.constantFrom(...contents),
      stream: fc.constantFrom(null, true, false),
    },
    { requiredKeys: ['content', 'stream'] },
  );

  it('is answered as by the runtime itself, except where docs/endpoints.md says so', async () => {
    await fc.assert(
      fc.asyncProperty(drawn, async ({ content, ...more }) => {
        Object.assign(next, { answer: more['stream'] === true ? stream : whole, isReset: false, asked: {} });
        const body = { model: 'tiny', messages: [{ role: 'user', content }], ...more };
        const post = { method: 'POST', body: JSON.stringify(body) };
        const headers = { 'content-type': 'application/json', authorization: `Bearer ${rightKey}` };
        const answer = await fetch(`${gateway.url}/v1/chat/completions`, { ...post, headers });
        const text = await answer.text();
        const refusedFields = ['draft_model', 'adapters', 'num_draft_tokens'] as const;
        if (refusedFields.some((name) => (body[name as never] ?? null) !== null) || content === contents[3]) {
          expect([answer.status, next.asked]).toEqual([400, {}]);
          return;
        }
        const kept = Object.entries(body).filter(([, value]) => value !== null);
        expect(next.asked).toEqual({ ...Object.fromEntries(kept), model: 'default_model' });
        const sent = next.answer.toString().split('\r\n\r\n')[1];
        expect(text).toBe(sent?.replaceAll('"model": "default_model"', '"model":"tiny"'));
        expect(answer.status).toBe(200);
      }),
      { numRuns: runs(500) },
    );
  });

  it('is refused at a path that the runtime does not have', async () => {
    const client = gateway.client;
    for (const asked of [
      client.responses.create({ model: 'tiny', input: 'x' }),
      client.embeddings.create({ model: 'tiny', input: 'x' }),
    ]) {
      await expect(asked).rejects.toMatchObject({
        status: 404,
        message: expect.stringMatching(/The runtime of tiny does not have .*\. It has: \/v1\/chat\/completions, /),
      });
    }
  });
});
