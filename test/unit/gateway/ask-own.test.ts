import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { answerOwn, clientsInFlight } from '../../../src/gateway/ask-own.ts';
import { makeBodyRoom } from '../../../src/gateway/body/body-room.ts';
import { readBody } from '../../../src/gateway/body/read-body.ts';
import type { Endpoint } from '../../../src/gateway/endpoints.ts';
import { makeOwnRequests } from '../../../src/gateway/own-count.ts';
import { bodyRefusal, clientGone, type Passing, passOn } from '../../../src/gateway/pass-on.ts';
import { makeTurns } from '../../../src/gateway/replicas/turns.ts';
import { endpointCounts } from '../../rack/placements.ts';

const limits = {
  mostBodyBytes: 100,
  smallBodyBytes: 10,
  bodyStepBytes: 20,
  bodyRoomBytes: 100,
  bodyRoomMs: 20,
  silentMs: 20_000,
  unreadMs: 20_000,
};
const makeRoom = (bytes: number) => makeBodyRoom(bytes, 0, ['kimi']);
const json = { 'content-type': 'application/json' };

/** A gateway's endpoint for a runtime that does not exist, with the test's clock and flow. */
function makeEndpoint(lastTokenMsAgo?: number, maxRequests = 1, refusedFields: readonly string[] = []) {
  const clock = { at: 0, closed: [] as (string | undefined)[] };
  let counts = endpointCounts();
  const upstream = {
    placement: 'kimi',
    servedName: 'tiny',
    port: 1,
    model: 'm',
    cancels: 'always' as const,
    maxRequests,
  };
  const passage = { came: () => undefined, hold: () => undefined, end: () => undefined };
  const endpoint = {
    upstream: { ...upstream, refusedFields, ownPaths: ['/v1/x', '/x'] },
    turns: makeTurns(maxRequests, 1),
    own: makeOwnRequests(() => clock.at),
    ownWaiting: makeOwnRequests(() => clock.at),
    flow: {
      sight: () => (lastTokenMsAgo === undefined ? {} : { lastTokenMsAgo }),
      begin: () => passage,
      forgetToken: () => undefined,
    },
    closedBy: async () => clock.closed.shift(),
    others: async () => [],
    counts: () => counts,
    count: (next: (before: typeof counts) => typeof counts) => {
      counts = next(counts);
    },
  };
  return { endpoint: endpoint as unknown as Endpoint, clock };
}

function requestOf(body: string, headers: Readonly<Record<string, string>> = json, method = 'POST') {
  const pieces = body === '' ? [] : [Buffer.from(body)];
  return Object.assign(Readable.from(pieces), { headers, method }) as unknown as IncomingMessage;
}

/** The connection of a client that has received nothing yet. */
const responseOf = (more: object = {}) =>
  Object.assign(new EventEmitter(), { destroyed: false, writableFinished: false, ...more });

function passing(more: Partial<Passing> = {}): Passing {
  const response = responseOf();
  const leaving = new AbortController().signal;
  return { response: response as never, limits, room: makeRoom(100), leaving, ...more };
}

const refused = (status: number, code: string, message: string) => ({
  status,
  body: { error: { code, message, param: null, type: expect.stringContaining('_error') } },
  refused: code,
});
const isDown = {
  ...refused(503, 'mesh_down', 'tiny is down: nothing listens on its port; it is stopped, or still starting.'),
  retryAfterSeconds: 10,
};

describe('a request from the node itself', () => {
  const ask = (endpoint: Endpoint, headers: Readonly<Record<string, string>> = {}, body = '{"a":1}', more?: Passing) =>
    answerOwn({ endpoint: endpoint, path: '/v1/x' }, requestOf(body, { ...json, ...headers }), more ?? passing());

  it('returns the client requests in flight, or forwards a body', async () => {
    const { endpoint } = makeEndpoint();
    await endpoint.turns.take(new AbortController().signal);
    const inFlight = await answerOwn({ endpoint: endpoint, path: '' }, requestOf('', json, 'GET'), passing());
    expect(inFlight).toEqual({ status: 200, body: 1 });
    const { endpoint: free } = makeEndpoint();
    for (let again = 0; again < 3; again += 1) expect(await ask(free)).toEqual(isDown);
    expect(clientsInFlight(free)).toEqual({ running: 0, waiting: 0 });
    expect([free.own.count(), free.counts()]).toEqual([0, endpointCounts()]);
  });

  it('is rejected for a wrong method or body, and gets no answer once its client is gone', async () => {
    const { endpoint } = makeEndpoint();
    const wrong = await answerOwn({ endpoint: endpoint, path: '/v1/x' }, requestOf('{}', json, 'PUT'), passing());
    expect(wrong).toEqual(refused(405, 'method_not_allowed', 'PUT is not allowed here.'));
    expect(await ask(endpoint, { 'content-type': 'text/plain' })).toMatchObject({ status: 415 });
    expect(await ask(endpoint, {}, '[')).toMatchObject({ status: 400 });
    const gone = Object.assign(new Readable({ read: () => undefined }), { headers: json, method: 'POST' });
    gone.destroy(new Error('reset'));
    const answer = await answerOwn({ endpoint: endpoint, path: '/x' }, gone as unknown as IncomingMessage, passing());
    expect(answer).toBeUndefined();
  });

  it('is not forwarded if a recent client token suffices as proof', async () => {
    const proof = { 'meshwright-proof': 'traffic' };
    const lately = { running: 0, waiting: 0, lastTokenMsAgo: 10_000 };
    expect(await ask(makeEndpoint(10_000).endpoint, proof)).toEqual({ status: 425, body: lately });
    for (const [endpoint, headers] of [
      [makeEndpoint(10_000).endpoint, {}],
      [makeEndpoint(10_000).endpoint, { 'meshwright-proof': 'x' }],
      [makeEndpoint(10_001).endpoint, proof],
      [makeEndpoint().endpoint, proof],
    ] as const) {
      expect(await ask(endpoint, headers)).toEqual(isDown);
    }
  });

  it('is not forwarded while an earlier request takes too long, or before its turn', async () => {
    const { endpoint, clock } = makeEndpoint(10_001, 2);
    endpoint.own.begin();
    clock.at = 20_000;
    expect(await ask(endpoint)).toEqual(isDown);
    clock.at = 20_001;
    expect(await ask(endpoint)).toEqual({ status: 425, body: { running: 0, waiting: 0, ownMs: 20_001 } });
    const { endpoint: busy } = makeEndpoint();
    const turn = await busy.turns.take(new AbortController().signal);
    for (const wait of ['0', '-5', 'x', '1']) {
      expect(await ask(busy, { 'meshwright-wait': wait })).toEqual({ status: 425, body: { running: 1, waiting: 0 } });
    }
    const coming = ask(busy, { 'meshwright-wait': '9999999999' });
    while (busy.turns.counts().waiting === 0) await new Promise((resolve) => setImmediate(resolve));
    // A check behind a hung check is no client either.
    expect(clientsInFlight(busy)).toEqual({ running: 1, waiting: 0 });
    turn?.giveBack();
    expect(await coming).toEqual(isDown);
  });

  it('waits at most an hour', async () => {
    const timeout = vi.spyOn(globalThis, 'setTimeout');
    try {
      const { endpoint } = makeEndpoint();
      for (const wait of ['3600000', '3600001', '7', '']) await ask(endpoint, { 'meshwright-wait': wait });
      expect(timeout.mock.calls.map(([, ms]) => ms)).toEqual([3_600_000, 3_600_000, 7, 0]);
    } finally {
      timeout.mockRestore();
    }
  });
});

describe('a request body', () => {
  const never = new AbortController().signal;
  const placements = ['kimi'];
  const read = async (text: string, headers: Readonly<Record<string, string>> = json, room = makeRoom(100)) => {
    const body = await readBody(requestOf(text, headers), { limits, room, placements, gone: never });
    if (body.kind !== 'object') return body.kind;
    const { bytes, members } = body.contents() ?? {};
    body.free();
    expect(body.contents()).toBeUndefined();
    return [bytes?.toString(), [...(members?.keys() ?? [])]];
  };
  const long = (bytes: number): string => `{"a":"${'x'.repeat(bytes - 8)}"}`;

  it('must be a JSON object of limited size', async () => {
    expect(await read('{"a":1}')).toEqual(['{"a":1}', ['a']]);
    expect(await read('{"a":1}', { 'content-type': ' Application/JSON ; charset=x' })).toEqual(['{"a":1}', ['a']]);
    for (const type of ['text/plain', 'application/jsonl', ''])
      expect(await read('{}', { 'content-type': type })).toBe('not-json');
    expect(await read('{}', {})).toBe('not-json');
    for (const bad of ['', '[]', '{']) expect(await read(bad)).toBe('bad');
    const notText = Object.assign(Readable.from([Buffer.from('{"a":"\xe4"}', 'latin1')]), { headers: json });
    const at = { limits, room: makeRoom(100), placements, gone: never };
    expect(await readBody(notText as unknown as IncomingMessage, at)).toEqual({ kind: 'bad' });
    expect(await read(long(100))).toEqual([long(100), ['a']]);
    expect(await read(long(101))).toBe('too-large');
    expect(await read('{}', { ...json, 'content-length': '101' })).toBe('too-large');
  });

  it('reserves memory in steps as it arrives, and releases that memory afterward', async () => {
    const room = makeRoom(100);
    const arriving = (headers: Readonly<Record<string, string>>) => {
      const request = Object.assign(new Readable({ read: () => undefined }), { headers: { ...json, ...headers } });
      const coming = readBody(request as unknown as IncomingMessage, { limits, room, placements, gone: never });
      const heldAfter = async (piece: string) => {
        request.push(piece);
        await new Promise((resolve) => setTimeout(resolve, 1));
        return room.held('kimi');
      };
      return { request, coming, heldAfter };
    };
    const { request, coming, heldAfter } = arriving({});
    const pieces = ['{"a":"', 'xxxx', 'x', 'x'.repeat(9), 'x', '"}'];
    const held: number[] = [];
    for (const piece of pieces) held.push(await heldAfter(piece));
    expect(held).toEqual([0, 0, 20, 20, 40, 40]);
    request.push(null);
    const body = await coming;
    if (body.kind === 'object') body.free();
    expect([body.kind, room.held('kimi')]).toEqual(['object', 0]);
    const declared = arriving({ 'content-length': '23' });
    expect([await declared.heldAfter('x'.repeat(11)), await declared.heldAfter('x'.repeat(12))]).toEqual([20, 23]);
    declared.request.push(null);
    expect([await declared.coming, room.held('kimi')]).toEqual([{ kind: 'bad' }, 0]);
  });

  it('waits briefly for memory if none is free, and releases that memory afterward', async () => {
    const room = makeRoom(100);
    const headers = { ...json, 'content-length': '60' };
    const other = room.open(placements);
    await other.reach(41, 41, never);
    expect(await read(long(60), headers, room)).toBe('no-room');
    expect(await read(long(10), { ...json, 'content-length': '10' }, room)).toEqual([long(10), ['a']]);
    expect(await read(long(11), { ...json, 'content-length': '11' }, makeRoom(10))).toBe('no-room');
    const left = readBody(requestOf(long(60), headers), { limits, room, placements, gone: AbortSignal.abort() });
    expect(await left).toEqual({ kind: 'gone' });
    other.free();
    expect(await read(long(60), headers, room)).toEqual([long(60), ['a']]);
    for (const bad of [long(101), 'x'.repeat(60)]) await read(bad, headers, room);
    expect(room.held('kimi')).toBe(0);
  });

  it('has an error code for every kind of rejection', () => {
    const kinds = ['too-large', 'no-room', 'not-json', 'bad', 'gone'] as const;
    expect(kinds.map((kind) => bodyRefusal({ kind }, 100).code).join(' ')).toBe(
      'request_too_large too_many_requests unsupported_media_type invalid_json invalid_json',
    );
  });
});

describe('a client request', () => {
  const send = async (
    body: object,
    { endpoint, clock }: ReturnType<typeof makeEndpoint>,
    more: Partial<Passing> = {},
  ) => {
    const roomy = { ...limits, mostBodyBytes: 1_000, smallBodyBytes: 1_000 };
    const at = passing({ limits: roomy, ...more });
    const refusal = await passOn(requestOf(JSON.stringify(body)), '/v1/x', [endpoint], at);
    const { failed, refused } = endpoint.counts();
    expect([endpoint.turns.counts().waiting, clock.closed]).toEqual([0, []]);
    return [refusal?.code, failed, refused, refusal?.message];
  };
  const tiny = { model: 'tiny' };

  it('must name a served model', async () => {
    const required = ['model_required', 0, 0, 'The request names no model. There is: tiny.'];
    for (const model of [undefined, '', 7, null]) expect(await send({ model }, makeEndpoint())).toEqual(required);
    const unknown = ['model_not_found', 0, 0, 'There is no model "x" here. There is: tiny.'];
    expect(await send({ model: 'x' }, makeEndpoint())).toEqual(unknown);
  });

  it('must not set a field that would load a different model, except to null', async () => {
    const message = 'adapters is not accepted: a request cannot change tiny.';
    const at = () => makeEndpoint(undefined, 1, ['draft', 'adapters']);
    expect(await send({ ...tiny, adapters: 'x' }, at())).toEqual(['unsupported_parameter', 0, 0, message]);
    expect(await send({ ...tiny, adapters: null }, at())).toEqual(['mesh_down', 1, 0, isDown.body.error.message]);
  });

  it('is rejected if too many requests wait, or if the gateway closes before or during its wait', async () => {
    for (const closed of [['it is closed.'], [undefined, 'it is closed.']]) {
      const at = makeEndpoint();
      at.clock.closed = closed;
      expect(await send(tiny, at)).toEqual(['closed', 0, 1, 'tiny is not accepting requests: it is closed.']);
      expect(at.endpoint.turns.counts().running).toBe(0);
    }
    const busy = makeEndpoint();
    const never = new AbortController().signal;
    const turn = await busy.endpoint.turns.take(never);
    const left = new AbortController();
    const waiting = busy.endpoint.turns.take(left.signal);
    const at = passing({ limits: { ...limits, smallBodyBytes: 99 } });
    const many = { code: 'too_many_requests', message: 'Too many requests are waiting for tiny.' };
    expect(await passOn(requestOf('{"model":"tiny"}'), '/v1/x', [busy.endpoint], at)).toMatchObject(many);
    left.abort();
    await waiting;
    const restarted = ['closed', 0, 2, 'The gateway is being restarted.'];
    expect(await send(tiny, busy, { leaving: AbortSignal.abort() })).toEqual(restarted);
    const destroyed = responseOf({ destroyed: true });
    expect(await send(tiny, busy, { response: destroyed as never })).toEqual([undefined, 0, 2, undefined]);
    turn?.giveBack();
    expect(await send(tiny, busy)).toEqual(['mesh_down', 1, 2, isDown.body.error.message]);
    expect(busy.endpoint.turns.counts()).toEqual({ running: 0, waiting: 0 });
  });

  it('counts as gone if its connection closes before the answer', () => {
    const over = (isFinished: boolean) => {
      const response = responseOf({ writableFinished: isFinished });
      const gone = clientGone(response as never);
      response.emit('close');
      return gone.aborted;
    };
    expect([over(false), over(true)]).toEqual([true, false]);
    expect(clientGone(passing().response).aborted).toBe(false);
  });
});
