import { createServer, type Socket } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect } from 'vitest';
import { mlx } from '../../src/drivers/mlx/mlx.ts';
import { listening } from '../rack/listening.ts';
import { chat, rightKey, startTestGateway, type TestGateway, upstreamAt } from './test-gateway.ts';

/** A gateway in front of a runtime that replays recorded answers of mlx_lm.server, byte for byte. */
export interface Replay {
  readonly gateway: TestGateway;
  /** The next answer, and how its connection ends; and the body of the last request. */
  readonly next: { answer: Buffer; isReset: boolean; asked: Readonly<Record<string, unknown>> };
  /** The numbers of answered and failed requests. */
  readonly counts: () => Promise<readonly [number, number]>;
  readonly end: () => Promise<void>;
}

export async function startReplay(): Promise<Replay> {
  const next: Replay['next'] = { answer: Buffer.alloc(0), isReset: false, asked: {} };
  const server = createServer((socket) => replay(socket, next));
  const gateway = await startTestGateway([upstreamAt(await listening(server), { cancels: 'streams', ...mlx.api?.() })]);
  const end = async (): Promise<void> => {
    await gateway.end();
    server.close();
  };
  return { gateway, next, counts: () => countsOf(gateway), end };
}

/** The numbers of answered and failed requests. */
export async function countsOf(gateway: TestGateway): Promise<readonly [number, number]> {
  const [{ counts } = { counts: { requests: 0, failed: 0 } }] = (await gateway.status()).placements;
  return [counts.requests, counts.failed];
}

function replay(socket: Socket, next: Replay['next']): void {
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

const failure = 'an error';

/** What a client of the OpenAI API receives: the model and text of a stream or answer, or that there was an error. */
export async function received({ client }: TestGateway, more: { stream?: boolean; max_tokens?: number } = {}) {
  try {
    if (more.stream !== true) {
      const answer = await client.chat.completions.create({ ...chat(), ...more, stream: false });
      return `${answer.model}: ${answer.choices[0]?.message.content}`;
    }
    let text = '';
    for await (const { model, choices } of await client.chat.completions.create({ ...chat(), ...more, stream: true })) {
      text ||= `${model}: `;
      text += choices[0]?.delta.content ?? '';
    }
    return text;
  } catch {
    return failure;
  }
}

/** Recorded answers to a stream, a request without one, and a wrong request. */
export type Recordings = Readonly<Record<'stream' | 'whole' | 'error', Buffer>>;

/** An answer that ends at any byte, in order or by a reset, is an error for the client and in the counts. */
export async function expectCutsToFail(replay: Replay, recorded: Recordings, numRuns: number): Promise<void> {
  const { gateway, next, counts } = replay;
  const cut = fc.record({
    kind: fc.constantFrom('stream' as const, 'whole' as const, 'error' as const),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    isReset: fc.boolean(),
  });
  const edges = (['stream', 'whole'] as const).flatMap((kind) =>
    [true, false].flatMap((isReset) => [1, 0.9999].map((share) => ({ kind, share, isReset }))),
  );
  await fc.assert(
    fc.asyncProperty(cut, async ({ kind, share, isReset }) => {
      const answer = recorded[kind];
      const bytes = Math.floor(share * answer.length);
      const isCut = bytes < answer.length || kind === 'error';
      Object.assign(next, { answer: answer.subarray(0, bytes), isReset });
      const [requests, failed] = await counts();
      const text = await received(gateway, { stream: kind === 'stream' });
      expect(text).toEqual(isCut ? failure : expect.stringMatching(/^tiny: ./));
      expect(await counts()).toEqual(isCut ? [requests, failed + 1] : [requests + 1, failed]);
    }),
    { numRuns, examples: edges.map((one): [typeof one] => [one]) },
  );
}

/** Every field that the API documents for a chat, with values of the right kind; null is allowed for all of them. */
const fields = {
  audio: [{ voice: 'alloy', format: 'wav' }],
  frequency_penalty: [0, -0.5],
  function_call: ['auto'],
  functions: [[]],
  logit_bias: [{ 1: 2 }, { 999999: 2 }],
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
  seed: [1, -1],
  service_tier: ['auto'],
  stop: ['\n', ['a', 'b'], 5],
  store: [false],
  stream_options: [{ include_usage: true }, { include_obfuscation: false }, 5],
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

/** Those that the gateway refuses, since they would end the runtime. */
const wrongValues = { stream_options: 5, stop: 5, seed: -1, logit_bias: { 999999: 2 } };

const image = (url: string) => [{ type: 'image_url', image_url: { url } }];
const remote = image('http://127.0.0.1/x');
const contents = ['Hi', [{ type: 'text', text: 'http://a' }], image('data:image/png;base64,AA'), remote];

/** Bodies of chats for the model `tiny`. */
export const drawnChats: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc
  .record(
    {
      ...Object.fromEntries(Object.entries(fields).map(([name, all]) => [name, fc.constantFrom(null, ...all)])),
      content: fc.constantFrom(...contents),
      stream: fc.constantFrom(null, true, false),
    },
    { requiredKeys: ['content', 'stream'] },
  )
  .map(({ content, ...more }) => ({ model: 'tiny', messages: [{ role: 'user', content }], ...more }));

/** The body that the runtime gets, as docs/endpoints.md says; undefined if the gateway refuses the request. */
export function forwardedBody(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined {
  const isRefused = ['draft_model', 'adapters', 'num_draft_tokens'].some((name) => (body[name] ?? null) !== null);
  const hasForms = Object.entries(wrongValues).every(([name, wrong]) => !isDeepStrictEqual(body[name], wrong));
  if (isRefused || !hasForms || JSON.stringify(body['messages']).includes(JSON.stringify(remote))) return undefined;
  const kept = Object.entries(body).filter(
    ([, value]) => value !== null && !Object.hasOwn(Object(value), 'include_obfuscation'),
  );
  return { ...Object.fromEntries(kept), model: 'default_model' };
}

/** Sends JSON to a path of a gateway, as a client. */
export const post = (url: string, body: string): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${rightKey}` },
  });

/** Sends a chat to a gateway, as a client. */
export const postChat = (url: string, body: unknown): Promise<Response> =>
  post(`${url}/v1/chat/completions`, JSON.stringify(body));

/** Any documented request is answered as by the runtime itself, except where docs/endpoints.md says so. */
export async function expectSameAnswers({ gateway, next }: Replay, recorded: Recordings, numRuns: number) {
  await fc.assert(
    fc.asyncProperty(drawnChats, async (body) => {
      const answer = recorded[body['stream'] === true ? 'stream' : 'whole'];
      Object.assign(next, { answer, isReset: false, asked: {} });
      const response = await postChat(gateway.url, body);
      const text = await response.text();
      const forwarded = forwardedBody(body);
      expect([response.status, next.asked]).toEqual(forwarded === undefined ? [400, {}] : [200, forwarded]);
      if (forwarded === undefined) return;
      const sent = answer.subarray(answer.indexOf('\r\n\r\n') + 4).toString();
      expect(text).toBe(sent.replaceAll('"model": "default_model"', '"model":"tiny"'));
    }),
    { numRuns },
  );
}
