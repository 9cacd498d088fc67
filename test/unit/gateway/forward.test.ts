import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Forwarding, forward } from '../../../src/gateway/forward.ts';
import type { GatewayUpstream } from '../../../src/model/gateway.ts';
import { until } from '../../until.ts';

const servers: { readonly server: Server; readonly sockets: Set<Socket> }[] = [];
afterEach(() => {
  for (const { server, sockets } of servers.splice(0)) {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

/** A runtime that calls `answer` at the first request and records everything it receives. */
async function runtime(answer: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const seen = { asked: '', closed: 0 };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket
      .on('error', () => undefined)
      .on('close', () => {
        seen.closed += 1;
      });
    socket.on('data', (chunk) => {
      const isFirst = seen.asked === '';
      seen.asked += chunk;
      if (isFirst) answer(socket);
    });
  });
  servers.push({ server, sockets });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as { readonly port: number }).port, seen };
}

/** A client's connection that records everything it receives; it accepts more data unless it is full. */
class Client extends EventEmitter {
  readonly got: unknown[] = [];
  isFull = false;
  writeHead(...head: readonly unknown[]): void {
    this.got.push(...head);
  }
  flushHeaders(): void {
    this.got.push('flushed');
  }
  write(chunk: Buffer): boolean {
    this.got.push(chunk.toString());
    return !this.isFull;
  }
  end(): void {
    this.got.push('end');
  }
  destroy(): void {
    this.got.push('destroyed');
    this.emit('close');
  }
  get headersSent(): boolean {
    return this.got.length > 0;
  }
}

/** Forwards a request to a port. */
function pass(port: number, more: Partial<Forwarding> & { readonly api?: Partial<GatewayUpstream> } = {}) {
  const client = new Client();
  const events: unknown[] = [];
  /** Each time that the body's memory was returned: how much the client had got. */
  const freed: number[] = [];
  let at = 0;
  const { api, ...rest } = more;
  const outcome = forward({
    upstream: { placement: 'kimi', servedName: 'kimi', port, model: 'm', cancels: 'always', maxRequests: 1, ...api },
    canCancel: true,
    path: '/v1/completions?a=1',
    accept: 'text/plain',
    body: () => [Buffer.from('{"a":'), Buffer.from('1}')],
    freeBody: () => void freed.push(client.got.length),
    response: client as unknown as ServerResponse,
    gone: new AbortController().signal,
    limits: { silentMs: 20_000, unreadMs: 20_000 },
    now: () => (at += 1),
    passage: {
      came: (hasText) => events.push(['came', hasText]),
      hold: (isHeld) => events.push(['hold', isHeld]),
      end: () => events.push('end'),
    },
    ...rest,
  });
  return { outcome, client, events, freed };
}

/** Forwards a request to a runtime with this answer and returns the result. */
async function passed(text: string, more: Parameters<typeof pass>[1] = {}) {
  const { port, seen } = await runtime((socket) => socket.end(text));
  const { outcome, client, events } = pass(port, more);
  return { outcome: await outcome, got: client.got, events, asked: seen.asked.replaceAll(`${port}`, 'PORT') };
}

const head = (status: number | string, ...lines: readonly string[]): string =>
  `HTTP/1.1 ${status} X\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
const stream = 'content-type: text/event-stream';
const event = (text: string): string => `data: {"choices":[{"text":"${text}"}]}\n\n`;
const down = (reason: string) => ({ kind: 'down', reason });
const noAnswer = down('it gave no answer.');

describe('a forwarded request', () => {
  it('is sent as JSON on a separate connection, and its stream is returned unchanged', async () => {
    const text = event('a');
    const { outcome, got, events, asked } = await passed(`${head(200, stream)}${text}`);
    expect(asked.split('\r\n').sort()).toEqual([
      '',
      'Connection: close',
      'Host: 127.0.0.1:PORT',
      'POST /v1/completions?a=1 HTTP/1.1',
      'accept: text/plain',
      'content-length: 7',
      'content-type: application/json',
      '{"a":1}',
    ]);
    expect(outcome).toEqual({ kind: 'answered', tokens: 1, firstAtMs: 1, endAtMs: 2 });
    expect(got).toEqual([
      200,
      { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
      'flushed',
      text,
      'end',
    ]);
    expect(events).toEqual([['came', true]]);
  });

  it("counts the tokens in a complete response's `usage`, or no tokens if `usage` is missing", async () => {
    const body = '{"usage":{"completion_tokens":3}}';
    const whole = await passed(
      `${head(200, 'content-type: application/json', `content-length: ${body.length}`)}${body}`,
    );
    expect(whole.outcome).toEqual({ kind: 'answered', tokens: 3, endAtMs: 1 });
    expect(whole.got[1]).toEqual({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'content-length': '33',
    });
    expect(whole.events).toEqual([
      ['came', false],
      ['came', true],
    ]);
    const plain = await passed(`${head(200)}hello`);
    expect(plain.outcome).toEqual({ kind: 'answered', tokens: 0, endAtMs: 1 });
    expect(plain.got[1]).toEqual({ 'content-type': 'application/octet-stream', 'cache-control': 'no-store' });
    expect(plain.events).toEqual([['came', false]]);
  });

  it('is declined by a status of 400 or above, which does not count as output', async () => {
    expect(await passed(`${head(399, 'content-length: 1')}a`)).toMatchObject({ outcome: { kind: 'answered' } });
    for (const status of [400, 503, 599]) {
      const { outcome, got, events } = await passed(`${head(status, stream)}${event('a')}`);
      expect([outcome, got[0], got.at(-1), events]).toEqual([{ kind: 'declined' }, status, 'end', []]);
    }
  });

  it("may be accepted by a third replica if a second replica's gateway refuses it", async () => {
    const passedTo = (status: number, isReplica: boolean) => {
      const replica = { host: '127.0.0.1', headers: {} };
      return runtime((socket) => socket.end(head(status, 'meshwright-refused: queue_full'))).then(
        ({ port }) => pass(port, isReplica ? { replica: { ...replica, port } } : {}).outcome,
      );
    };
    for (const status of [401, 404, 429, 503]) {
      expect(await passedTo(status, true)).toEqual({ kind: 'refused', code: 'queue_full' });
      expect(await passedTo(status, false)).toEqual({ kind: 'declined' });
    }
    for (const status of [400, 500]) expect(await passedTo(status, true)).toEqual({ kind: 'declined' });
  });

  it('reports a reason if the runtime sends no valid answer', async () => {
    const { port } = await runtime(() => undefined);
    for (const { server } of servers) server.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await pass(port).outcome).toEqual(down('nothing listens on its port; it is stopped, or still starting.'));
    expect((await passed('')).outcome).toEqual(down('it broke the connection off.'));
    expect((await passed('hello, I am no server\r\n\r\n')).outcome).toEqual(noAnswer);
    expect((await passed(head(101, 'upgrade: x', 'connection: upgrade'))).outcome).toEqual(noAnswer);
    for (const status of [600, '000']) {
      const { outcome, got } = await passed(head(status, 'content-length: 0'));
      expect([outcome, got]).toEqual([down('it gave an answer that is not HTTP.'), []]);
    }
    const silent = await runtime(() => undefined);
    const { outcome } = pass(silent.port, { limits: { silentMs: 20, unreadMs: 20_000 } });
    expect(await outcome).toEqual(down('it said nothing for too long.'));
  });

  const json = 'content-type: application/json';
  const delta = (reason: string) =>
    `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":${reason}}}\n\n`;
  const stop = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
  const chat = (reason: string) => `{"choices":[{"finish_reason":${reason}}]}`;
  it.each([
    ['a stream with [DONE]', stream, `${event('a')}data: [DONE]\n\n`, 'answered'],
    ['a stream with a comment after [DONE]', stream, `${event('a')}data: [DONE]\n\n: end\n\n`, 'answered'],
    ['a stream without [DONE]', stream, event('a'), 'broken'],
    ['a stream without the empty line after [DONE]', stream, `${event('a')}data: [DONE]\n`, 'broken'],
    ['a stream with message_stop', stream, `${delta('"end_turn"')}${stop}`, 'answered'],
    ['a stream without message_stop', stream, delta('"end_turn"'), 'broken'],
    ['a stream with message_stop and no reason', stream, `${delta('null')}${stop}`, 'broken'],
    ['a stream with response.completed', stream, 'data: {"type":"response.completed"}\n\n', 'answered'],
    ['a stream without response.completed', stream, 'data: {"type":"response.output_text.delta"}\n\n', 'broken'],
    ['a chat with a reason for its end', json, chat('"stop"'), 'answered'],
    ['a chat without one', json, chat('null'), 'broken'],
    ['a message without one', json, '{"type":"message","stop_reason":null}', 'broken'],
  ])('is classified by the end of its response if the runtime marks the end: %s', async (_, type, text, kind) => {
    const answer = `${head(200, type, 'transfer-encoding: chunked')}${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
    const api = { endsStreams: true } as const;
    expect((await passed(answer, { isCorrected: true, api })).outcome.kind).toBe(kind);
    expect((await passed(answer, { isCorrected: true })).outcome.kind).toBe('answered');
  });

  it.each([204, 304])('gets no content length with status %i, whatever the runtime sends', async (status) => {
    const { outcome, got } = await passed(head(status, json, 'content-length: 2'));
    expect(outcome.kind).toBe('answered');
    expect(got.slice(0, 2)).toEqual([status, { 'content-type': 'application/json', 'cache-control': 'no-store' }]);
  });

  it('breaks the client connection if the answer is truncated', async () => {
    const { outcome, got } = await passed(`${head(200, 'content-length: 9')}abc`);
    expect([outcome, got.slice(3, 5)]).toEqual([{ kind: 'broken' }, ['abc', 'destroyed']]);
  });
});

describe("a forwarded request's body", () => {
  it('releases its memory once it is sent, before the response begins', async () => {
    const made: { socket?: Socket } = {};
    const { port, seen } = await runtime((socket) => {
      made.socket = socket;
    });
    const { outcome, freed } = pass(port);
    await until(() => seen.asked.endsWith('}') && freed.length > 0);
    expect(freed).toEqual([0]);
    made.socket?.end(`${head(200, stream)}${event('a')}`);
    expect((await outcome).kind).toBe('answered');
  });

  it('keeps its memory until the response begins if another replica may get the request', async () => {
    const made: { socket?: Socket } = {};
    const { port, seen } = await runtime((socket) => {
      made.socket = socket;
    });
    const { outcome, freed } = pass(port, { isRepeatable: true });
    await until(() => seen.asked.endsWith('}'));
    expect(freed).toEqual([]);
    made.socket?.write(head(200, stream));
    await until(() => freed.length > 0);
    made.socket?.end(event('a'));
    expect((await outcome).kind).toBe('answered');
    const refused = await runtime((socket) => socket.end(head(503)));
    const repeated = pass(refused.port, { isRepeatable: true, isCorrected: true });
    expect([(await repeated.outcome).kind, repeated.freed]).toEqual(['down', []]);
  });
});

describe('a client that disconnects or reads slowly', () => {
  it('cancels the request on a cancelable runtime, before and during an answer', async () => {
    const chunked = `${head(200, stream, 'transfer-encoding: chunked')}1\r\na\r\n`;
    for (const answer of ['', `${head(200, stream)}${event('a')}`, chunked]) {
      const { port, seen } = await runtime((socket) => void socket.write(answer));
      const left = new AbortController();
      const { outcome, client } = pass(port, { gone: left.signal });
      await until(() => (answer === '' ? seen.asked !== '' : client.got.length > 3));
      left.abort();
      expect(await outcome).toEqual({ kind: 'client-gone' });
      await until(() => seen.closed === 1);
    }
  });

  it("lets a non-cancelable runtime's answer be read to its end", async () => {
    const made: { socket?: Socket } = {};
    const { port, seen } = await runtime((socket) => {
      made.socket = socket;
    });
    const left = new AbortController();
    const { outcome, client, events } = pass(port, { gone: left.signal, canCancel: false });
    await until(() => seen.asked.endsWith('}'));
    left.abort();
    made.socket?.end(`${head(200, stream)}${event('a')}`);
    expect(await outcome).toEqual({ kind: 'client-gone' });
    expect([client.got, events]).toEqual([[], [['came', true]]]);
  });

  it('pauses the runtime until it accepts more data or disconnects', async () => {
    for (const end of ['drain', 'gone'] as const) {
      const made: { socket?: Socket } = {};
      const { port } = await runtime((socket) => {
        made.socket = socket;
        socket.write(`${head(200, stream)}${event('a')}`);
      });
      const left = new AbortController();
      const { outcome, client, events } = pass(port, { gone: left.signal, canCancel: false });
      client.isFull = true;
      await until(() => events.length === 2);
      made.socket?.end(event('b'));
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      const held = [
        ['came', true],
        ['hold', true],
      ];
      expect([events, client.got.slice(3)]).toEqual([held, [event('a')]]);
      client.isFull = false;
      if (end === 'drain') client.emit('drain');
      else left.abort();
      expect((await outcome).kind).toBe(end === 'drain' ? 'answered' : 'client-gone');
      expect(events).toEqual([...held, ['hold', false], ['came', true]]);
      expect(client.got.slice(4)).toEqual(end === 'drain' ? [event('b'), 'end'] : []);
    }
  });

  it('is disconnected if it does not read the data sent to it', async () => {
    const { port, seen } = await runtime((socket) => socket.write(`${head(200, stream)}${event('a')}`));
    const left = new AbortController();
    const { outcome, client } = pass(port, { gone: left.signal, limits: { silentMs: 20_000, unreadMs: 20 } });
    client.on('close', () => left.abort());
    client.isFull = true;
    expect(await outcome).toEqual({ kind: 'client-gone' });
    expect(client.got.slice(3, 5)).toEqual([event('a'), 'destroyed']);
    await until(() => seen.closed === 1);
  });

  it('is disconnected only if it leaves the end of its response unread', async () => {
    const limits = { silentMs: 20_000, unreadMs: 20 };
    const unread = await passed(`${head(200, stream)}${event('a')}`, { limits });
    await until(() => unread.got.at(-1) === 'destroyed');
    expect(unread.outcome.kind).toBe('answered');
    const { port } = await runtime((socket) => {
      socket.write(`${head(200, stream)}${event('a')}`);
      setTimeout(() => socket.end(event('b')), 60);
    });
    const { outcome, client } = pass(port, { limits });
    client.isFull = true;
    await until(() => client.got.length === 4);
    client.isFull = false;
    client.emit('drain');
    expect((await outcome).kind).toBe('answered');
    client.emit('close');
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(client.got.slice(3)).toEqual([event('a'), event('b'), 'end']);
  });

  it('does not pause the flow during a refusal', async () => {
    const { port } = await runtime((socket) => socket.end(`${head(500)}no`));
    const { outcome, client, events } = pass(port);
    client.isFull = true;
    await until(() => client.got.length > 3);
    client.emit('drain');
    expect([await outcome, events]).toEqual([{ kind: 'declined' }, [['hold', false]]]);
  });
});
