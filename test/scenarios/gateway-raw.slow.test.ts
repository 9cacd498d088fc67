import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isThorough, isWhole, sampleSeed } from '../sample.ts';
import { longestWaitMs } from '../until.ts';
import { type RawUpstream, sendRaw, startRawUpstream } from './gateway-raw.ts';
import { startUpstream, type TestUpstream } from './gateway-upstream.ts';
import { chat, rightKey, startTestGateway, type TestGateway, upstreamAt } from './test-gateway.ts';

let runtime: TestUpstream;
let odd: RawUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  runtime = await startUpstream();
  odd = await startRawUpstream();
  const oddOne = { placement: 'odd', servedName: 'odd', cancels: 'never' as const, maxRequests: 64 };
  gateway = await startTestGateway([upstreamAt(runtime.port), upstreamAt(odd.port, oddOne)], { silentMs: 500 });
});
afterAll(async () => {
  await gateway.end();
  await runtime.close();
  await odd.close();
});

const numRuns = isWhole ? 5_000 : isThorough ? 1_000 : 200;
const fuzzed = { numRuns, seed: sampleSeed | 0 };

/** One byte per character, for codes up to 255. */
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const body = JSON.stringify(chat());
const [host, json, close] = ['Host: gateway\r\n', 'Content-Type: application/json\r\n', 'Connection: close\r\n\r\n'];
const key = `Authorization: Bearer ${rightKey}\r\n`;
const lengthOf = (text: string): string => `Content-Length: ${text.length}\r\n`;
const asks = (path = '/v1/chat/completions'): string => `POST ${path} HTTP/1.1\r\n${host}`;
const models = `GET /v1/models HTTP/1.1\r\n${host}`;
/** A chat with these headers in addition to host and type. */
const withHeaders = (headers: string, sent = body): string => `${asks()}${json}${headers}${close}${sent}`;
const withBody = (sent: string): string => withHeaders(key + lengthOf(sent), sent);
const chunked = 'Transfer-Encoding: chunked\r\n';
const chunks = (trailer = '', extension = ''): string =>
  `${body.length.toString(16)}${extension}\r\n${body}\r\n0\r\n${trailer}\r\n`;
const inside = `${models}${key}\r\n`;

/** The bytes of a client, the statuses of the answers, and the number of forwarded requests. */
type Form = readonly [name: string, sent: string, statuses: readonly number[], passed: number];

const lengths: readonly Form[] = [
  ['a valid length', withHeaders(key + lengthOf(body)), [200], 1],
  ['two lengths', withHeaders(key + lengthOf(body) + lengthOf('x')), [400], 0],
  ['the same length twice', withHeaders(key + lengthOf(body) + lengthOf(body)), [400], 0],
  ['a length and chunks', withHeaders(key + lengthOf(body) + chunked, chunks()), [400], 0],
  ['chunks and a length', withHeaders(key + chunked + lengthOf('x'), chunks()), [400], 0],
  ['a negative length', withHeaders(`${key}Content-Length: -1\r\n`), [400], 0],
  ['a length with a sign', withHeaders(`${key}Content-Length: +5\r\n`), [400], 0],
  ['a length in hexadecimal', withHeaders(`${key}Content-Length: 0x10\r\n`), [400], 0],
  ['chunks', withHeaders(key + chunked, chunks()), [200], 1],
  ['chunks with an extension', withHeaders(key + chunked, chunks('', ';a="b"')), [200], 1],
  ['chunks with a trailer', withHeaders(key + chunked, chunks('X: y\r\n')), [200], 1],
  ['chunks with the key in the trailer', withHeaders(chunked, chunks(key)), [401], 0],
  ['a chunk with a negative length', withHeaders(key + chunked, `-1\r\n${body}\r\n0\r\n\r\n`), [400], 0],
  ['an unknown coding', withHeaders(`${key}Transfer-Encoding: xchunked\r\n`, chunks()), [400], 0],
  ['chunked, then identity', withHeaders(`${key + chunked}Transfer-Encoding: identity\r\n`, chunks()), [400], 0],
  ['a body that ends early', withHeaders(`${key}Content-Length: ${body.length + 9}\r\n`), [], 0],
  ['a request within the body of a request', withHeaders(lengthOf(inside), inside), [401], 0],
  [
    'a request behind a body that is too long',
    `${asks()}${json}${key}${lengthOf(body)}\r\n${body}xx${inside}`,
    [400],
    1,
  ],
  ['two pipelined requests', `${inside}${models}${key}${close}`, [200, 200], 0],
];

const lines: readonly Form[] = [
  ['a folded header', withHeaders(`Authorization: Bearer\r\n ${rightKey}\r\n${lengthOf(body)}`), [400], 0],
  ['a space before the colon', `${models}Authorization : Bearer ${rightKey}\r\n${close}`, [400], 0],
  ['lines that end with LF only', withHeaders(key + lengthOf(body)).replaceAll('\r', ''), [400], 0],
  ['lines that end with CR only', withHeaders(key + lengthOf(body)).replaceAll('\n', ''), [400], 0],
  ['a NUL in a header', `${models}X: a\0b\r\n${key}${close}`, [400], 0],
  ['no host', `${models.replace(host, '')}${key}${close}`, [400], 0],
  ['HTTP/1.0 without a host', `GET /v1/models HTTP/1.0\r\n${key}\r\n`, [200], 0],
  ['HTTP/0.9', 'GET /v1/models\r\n\r\n', [401], 0],
  ['HTTP/2 without an upgrade', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400], 0],
  ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001', [400], 0],
  ['only a line end', '\r\n', [], 0],
  ['headers of 20 MB', `${models}X: ${'x'.repeat(20_000_000)}\r\n${close}`, [431], 0],
  ['1,900 headers', `${models}${key}${'X: y\r\n'.repeat(1_900)}${close}`, [200], 0],
  ['a key after more headers than are kept', `${models}${'X: y\r\n'.repeat(2_100)}${key}${close}`, [401], 0],
  ['two keys', `${models}Authorization: Bearer wrong\r\n${key}${close}`, [401], 0],
  ['a key with non-ASCII characters', `${models}Authorization: Bearer \u00e9\u00ff\r\n${close}`, [401], 0],
  ['no key', `${models}${close}`, [401], 0],
];

const paths: readonly Form[] = [
  ['CONNECT', `CONNECT 127.0.0.1:22 HTTP/1.1\r\n${host}${key}\r\n`, [], 0],
  ['an upgrade', `${models}${key}Upgrade: websocket\r\nConnection: upgrade\r\n\r\n`, [200], 0],
  ['an upgrade to h2c', `${models}${key}Upgrade: h2c\r\nConnection: upgrade, http2-settings\r\n\r\n`, [200], 0],
  ['an unknown method', `MEOW /v1/models HTTP/1.1\r\n${host}${key}${close}`, [400], 0],
  ['TRACE', `TRACE /v1/models HTTP/1.1\r\n${host}${key}${close}`, [405], 0],
  ['an absolute URL', `GET http://elsewhere/v1/models HTTP/1.1\r\n${host}${key}${close}`, [200], 0],
  ['a path with ..', `${asks('/v1/../slots')}${key}${close}`, [404], 0],
  ['a path with encoded ..', `${asks('/v1/%2e%2e/slots')}${key}${close}`, [404], 0],
  ['an encoded slash', `${asks('/v1/chat%2fcompletions')}${key}${close}`, [404], 0],
  ['two slashes', `${asks('//v1/chat/completions')}${key}${close}`, [404], 0],
  ['a query', `${asks('/v1/chat/completions?x=1')}${json}${key}${lengthOf(body)}${close}${body}`, [200], 1],
  ['a space in the path', `${asks('/v1/chat completions')}${key}${close}`, [400], 0],
  ['an asterisk as the path', `OPTIONS * HTTP/1.1\r\n${host}${key}${close}`, [404], 0],
];

const deep = `{"model":"tiny","a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
const bodies: readonly Form[] = [
  ['200,000 nested brackets', withBody(deep), [400], 0],
  ['a field with an escape', withBody('{"\\u006dodel":"tiny","messages":[]}'), [200], 1],
  ['a field twice', withBody('{"model":"x","messages":[],"model":"tiny"}'), [200], 1],
  ['a model name of 1 MB', withBody(`{"model":"${'x'.repeat(1_000_000)}"}`), [404], 0],
  ['a model that is not a string', withBody(`{"model":["tiny"]}`), [400], 0],
  ['bytes that are not UTF-8', withBody('{"model":"tiny","a":"\u00ff"}'), [400], 0],
  ['JSON with a trailing comma', withBody('{"model":"tiny",}'), [400], 0],
];

const forms = [...lengths, ...lines, ...paths, ...bodies];

describe('a raw client of the gateway', () => {
  it.each(forms)('gets the expected status for %s', async (_name, sent, statuses, passed) => {
    const before = runtime.asked.length;
    const answer = await sendRaw(gateway.running.port, latin1(sent));
    expect(answer.statuses).toEqual(statuses);
    expect(answer.text.length).toBeLessThan(2_000);
    const asked = runtime.asked.slice(before);
    // If garbage follows a request, the client may be cut off before the gateway forwards the request.
    if (statuses.includes(200)) expect(asked).toHaveLength(passed);
    expect(asked.length).toBeLessThanOrEqual(passed);
    for (const one of asked) expect(one.body['model']).toBe('default_model');
    for (const one of asked) expect(one.headers).not.toHaveProperty('authorization');
  });

  it(`neither harms other clients nor reaches the runtime without a key, in ${numRuns} random forms`, async () => {
    const cut = fc.tuple(
      fc.nat(),
      fc.nat(12),
      fc.constantFrom('', '\r', '\n', '\r\n', ' ', '\0', ':', ',', 'x', '0', '\u00ff'),
    );
    const form = fc.constantFrom(...forms.filter(([, sent]) => sent.length < 5_000));
    const hurt = fc
      .tuple(form, form, fc.array(cut, { maxLength: 4 }), fc.boolean())
      .map(([[, one], [, two], cuts, isTwo]) =>
        cuts.reduce(
          (text, [at, length, put]) => {
            const from = at % (text.length + 1);
            return `${text.slice(0, from)}${put}${text.slice(from + length)}`;
          },
          isTwo ? `${one}${two}` : one,
        ),
      );
    const before = runtime.asked.length;
    let keyed = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(hurt, { minLength: 20, maxLength: 20 }), async (all) => {
        keyed += all.map((sent) => sent.split(rightKey).length - 1).reduce((sum, one) => sum + one, 0);
        const answers = await Promise.all(all.map((sent) => sendRaw(gateway.running.port, latin1(sent))));
        for (const { text } of answers) expect(text).toMatch(/^$|^HTTP\/1\.1 [2345]\d\d /);
        expect((await gateway.client.chat.completions.create(chat())).choices[0]?.message.content).toBe('Hello there');
      }),
      { ...fuzzed, numRuns: numRuns / 20 },
    );
    const asked = runtime.asked.slice(before);
    expect(asked.length - numRuns / 20).toBeLessThanOrEqual(keyed);
    for (const one of asked) expect(one.body['model']).toBe('default_model');
  });
});

const ok = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const answers: readonly (readonly [name: string, bytes: string])[] = [
  ['no bytes', ''],
  ['a protocol other than HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'],
  ['a status of 99', 'HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n'],
  ['a status of 0', 'HTTP/1.1 000 None\r\nContent-Length: 0\r\n\r\n'],
  ['a status of 600', 'HTTP/1.1 600 High\r\nContent-Length: 0\r\n\r\n'],
  ['a status of 999', 'HTTP/1.1 999 High\r\nContent-Length: 0\r\n\r\n'],
  ['a status of 1000', 'HTTP/1.1 1000 High\r\nContent-Length: 0\r\n\r\n'],
  ['only status 100', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['status 101', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  [
    'status 101 and a different protocol',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello',
  ],
  ['status 103 before the final one', `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${ok}Content-Length: 2\r\n\r\n{}`],
  ['status 204 and a body', `HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello`],
  ['status 304', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n'],
  ['two lengths', `${ok}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
  ['a length and chunks', `${ok}Content-Length: 2\r\n${chunked}\r\n2\r\n{}\r\n0\r\n\r\n`],
  ['a negative length', `${ok}Content-Length: -2\r\n\r\n{}`],
  ['fewer bytes than its length', `${ok}Content-Length: 200\r\n\r\n{}`],
  ['more bytes than its length', `${ok}Content-Length: 2\r\n\r\n{}{}{}`],
  ['a chunk with a bad length', `${ok}${chunked}\r\nzz\r\n{}\r\n0\r\n\r\n`],
  ['chunks that end early', `${ok}${chunked}\r\nff\r\n{}`],
  [
    'a type with non-ASCII characters',
    'HTTP/1.1 200 OK\r\nContent-Type: \u00e9\u00ff\t\u0080\r\nContent-Length: 2\r\n\r\n{}',
  ],
  ['a type with a NUL', 'HTTP/1.1 200 OK\r\nContent-Type: a\0b\r\nContent-Length: 2\r\n\r\n{}'],
  ['headers without end', `${ok}X: ${'x'.repeat(100_000)}`],
  [
    'an event stream cut within its JSON',
    `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {"choices":[{"delta":`,
  ],
  ['JSON nested 200,000 times', `${ok}\r\n${deep}`],
  ['an event stream of nested JSON', `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ${deep}\n\n`],
];

describe('the gateway in front of a broken runtime', () => {
  const askOdd = async (): Promise<number | string> => {
    const headers = { authorization: `Bearer ${rightKey}`, 'content-type': 'application/json' };
    const signal = AbortSignal.timeout(longestWaitMs);
    try {
      const answer = await fetch(`${gateway.url}/v1/completions`, {
        method: 'POST',
        headers,
        signal,
        body: '{"model":"odd"}',
      });
      await answer.arrayBuffer();
      return answer.status;
    } catch (error) {
      return error instanceof Error ? error.name : 'broken';
    }
  };

  it.each(answers)('keeps serving other placements after an answer with %s', async (_name, bytes) => {
    odd.answerWith(latin1(bytes));
    // Complete, refused or cut off, but never endless.
    expect(await askOdd()).not.toBe('TimeoutError');
    expect((await gateway.client.chat.completions.create(chat())).choices[0]?.message.content).toBe('Hello there');
  });

  it(`survives ${numRuns} random answers`, async () => {
    const piece = fc.tuple(
      fc.nat(),
      fc.nat(9),
      fc.constantFrom('', '\r\n', '\n', ' ', '\0', '-', '9', '0', '\u00ff', 'x'),
    );
    const hurt = fc.tuple(fc.constantFrom(...answers), fc.array(piece, { maxLength: 4 })).map(([[, bytes], cuts]) =>
      cuts.reduce((text, [at, length, put]) => {
        const from = at % Math.min(text.length + 1, 200);
        return `${text.slice(0, from)}${put}${text.slice(from + length)}`;
      }, bytes),
    );
    await fc.assert(
      fc.asyncProperty(hurt, async (bytes) => {
        odd.answerWith(latin1(bytes));
        expect(await askOdd()).not.toBe('TimeoutError');
      }),
      fuzzed,
    );
    expect((await gateway.client.chat.completions.create(chat())).choices[0]?.message.content).toBe('Hello there');
  });
});
