import { EventEmitter } from 'node:events';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { watchConnections } from '../../../src/gateway/connections.ts';
import { type GatewayLimits, type RunningGateway, startGateway, usualLimits } from '../../../src/gateway/gateway.ts';
import type { GatewayEvent } from '../../../src/gateway/log.ts';
import { ownHeaders, ownText } from '../../scenarios/test-gateway.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { onOnePage, sayValue } from '../one-page.ts';
import { hashOf } from './hash-of.ts';

const folder = temporaryFolder();
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});
const files = {
  keysFolder: folder.at('keys'),
  closedFolder: folder.at('closed'),
  countsFile: folder.at('counts'),
  ownFile: folder.at('own'),
};
const { countsFile } = files;
mkdirSync(files.closedFolder);
for (const [name, key] of Object.entries({ chat: 'one', code: 'two' })) {
  folder.write(`keys/${name}`, JSON.stringify({ keys: [hashOf(key)] }));
}

/** Starts a gateway in front of two runtimes; `chat` answers with three tokens. */
async function start(limits: Partial<GatewayLimits> = {}, listenPort = 0): Promise<RunningGateway> {
  rmSync(countsFile, { force: true });
  folder.write('own', ownText);
  const runtime = createServer((asked, answer) => {
    asked.resume().on('end', () => {
      answer.writeHead(200, { 'content-type': 'application/json' });
      answer.end('{"usage":{"completion_tokens":3}}');
    });
  });
  await new Promise<void>((resolve) => runtime.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise((resolve) => runtime.close(resolve)));
  const { port } = runtime.address() as { readonly port: number };
  const upstream = { model: 'm', ownPaths: ['/v1/completions'], cancels: 'always' as const, maxRequests: 2 };
  const gateway = await startGateway(
    {
      listen: { address: '127.0.0.1', port: listenPort },
      version: 'v1',
      upstreams: [
        { ...upstream, placement: 'chat', servedName: 'tiny/one', port },
        { ...upstream, placement: 'code', servedName: 'large', port: 1 },
      ],
      ...files,
      proxies: [],
    },
    { ...usualLimits, graceMs: 2_000, ...limits },
  );
  ends.push(gateway.stop);
  return gateway;
}

type Asked = readonly [status: number | undefined, body: unknown];

/** Sends a request, by default with a key of `chat`. */
const ask = (
  { port }: RunningGateway,
  path: string,
  { method = 'GET', body = '', headers = { authorization: 'Bearer one' } as Readonly<Record<string, string>> } = {},
): Promise<Asked> =>
  new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => resolve([answer.statusCode, JSON.parse(text)]));
    });
    asked.on('error', reject).end(body);
  });

const refused = (status: number, code: string) => [status, { error: expect.objectContaining({ code }) }];
const model = (id: string) => ({ id, object: 'model', created: 0, owned_by: 'meshwright' });
const json = { authorization: 'Bearer one', 'content-type': 'application/json' };

describe('a gateway', () => {
  it('lists the models that each key can use', async () => {
    const gateway = await start();
    expect(await ask(gateway, '/v1/models')).toEqual([200, { object: 'list', data: [model('tiny/one')] }]);
    for (const name of ['tiny/one', 'tiny%2Fone']) {
      expect(await ask(gateway, `/v1/models/${name}`)).toEqual([200, model('tiny/one')]);
    }
    for (const name of ['large', '%zz', '']) {
      expect(await ask(gateway, `/v1/models/${name}`)).toEqual(refused(404, 'model_not_found'));
    }
    expect(await ask(gateway, '/v1/models', { method: 'POST' })).toEqual(refused(405, 'method_not_allowed'));
    for (const headers of [{}, { authorization: 'Bearer three' }]) {
      expect(await ask(gateway, '/v1/models', { headers })).toEqual(refused(401, 'invalid_api_key'));
    }
    const status = [200, { strangers: 2, version: 'v1' }];
    expect(await ask(gateway, '/gateway/status', { headers: ownHeaders })).toMatchObject(status);
  });

  it('forwards only text requests', async () => {
    const gateway = await start();
    const post = { method: 'POST', body: '{"model":"tiny/one"}', headers: json };
    for (const path of ['chat/completions', 'completions', 'embeddings', 'messages', 'responses']) {
      expect(await ask(gateway, `/v1/${path}`, post)).toEqual([200, { usage: { completion_tokens: 3 } }]);
      expect(await ask(gateway, `/v1/${path}`)).toEqual(refused(405, 'method_not_allowed'));
    }
    for (const path of ['/', '/v1/modelsx', '/v1/files', '/gateway']) {
      expect(await ask(gateway, path)).toEqual(refused(404, 'unknown_url'));
    }
    expect(await ask(gateway, '//', post)).toEqual(refused(400, 'invalid_url'));
    const other = { ...post, body: '{"model":"large"}' };
    expect(await ask(gateway, '/v1/completions', other)).toEqual(refused(404, 'model_not_found'));
    expect(await ask(gateway, '/gateway/status', { headers: ownHeaders })).toMatchObject([200, { strangers: 0 }]);
    await gateway.keepCounts();
    expect(JSON.parse(readFileSync(countsFile, 'utf8'))).toMatchObject({
      chat: { requests: 5, tokens: 15 },
      code: { requests: 0 },
    });
    // The counts have not changed, so nothing is written.
    rmSync(countsFile);
    await gateway.keepCounts();
    expect(() => readFileSync(countsFile)).toThrow('ENOENT');
  });

  it("answers meshwright's requests from the node if they carry the gateway's secret", async () => {
    const gateway = await start();
    expect(await ask(gateway, '/gateway/in-flight/chat', { headers: ownHeaders })).toEqual([200, 0]);
    expect(await ask(gateway, '/gateway/ask/chat', { headers: ownHeaders })).toEqual([200, 0]);
    const own = {
      method: 'POST',
      body: '{"model":"m"}',
      headers: { ...ownHeaders, 'content-type': 'application/json' },
    };
    const answer = [200, { usage: { completion_tokens: 3 } }];
    expect(await ask(gateway, '/gateway/ask/chat/v1/completions', own)).toEqual(answer);
    for (const path of ['/gateway/status', '/gateway/ask/chat', '/gateway/ask/chat/v1/completions']) {
      expect(await ask(gateway, path, { ...own, headers: json })).toEqual(refused(404, 'unknown_url'));
      expect(await ask(gateway, path, { headers: {} })).toEqual(refused(401, 'invalid_api_key'));
    }
    folder.write('own', 'meshwright-own: short\n');
    const short = { headers: { 'meshwright-own': 'short' } };
    expect(await ask(gateway, '/gateway/ask/chat', short)).toEqual(refused(401, 'invalid_api_key'));
    rmSync(files.ownFile);
    expect(await ask(gateway, '/gateway/ask/chat', own)).toEqual(refused(401, 'invalid_api_key'));
  });

  it('fails to start if its port is taken, and saves counts on stop', async () => {
    const gateway = await start();
    await expect(start({}, gateway.port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await gateway.stop();
    await expect(ask(gateway, '/v1/models')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(readFileSync(countsFile, 'utf8')).toContain('"chat"');
  });

  it('closes the oldest silent connection at each limit, or the new connection if none is silent', () => {
    const server = new EventEmitter();
    const closed: string[] = [];
    void watchConnections(server as Server, { mostConnections: 4, mostPerAddress: 2 }, ['proxy']);
    const open = (name: string, remoteAddress: string) => {
      const socket = Object.assign(new EventEmitter(), { remoteAddress, destroy: () => closed.push(name) });
      server.emit('connection', socket);
      return socket;
    };
    const ask = (socket: EventEmitter): EventEmitter => {
      const response = new EventEmitter();
      server.emit('request', { socket }, response);
      return response;
    };
    const first = open('first', 'a');
    open('second', 'a');
    const answers = [ask(first), ask(first)];
    const third = open('third', 'a');
    ask(third);
    open('fourth', 'a');
    answers[0]?.emit('close');
    open('fifth', 'a');
    answers[1]?.emit('close');
    open('sixth', 'a');
    expect(closed.splice(0)).toEqual(['second', 'fourth', 'fifth', 'first']);
    for (const name of ['seventh', 'eighth', 'ninth']) open(name, 'proxy');
    third.emit('close');
    open('tenth', 'b');
    expect(closed).toEqual(['sixth']);
  });
});

it('usualLimits leave room for the largest prompts', () => {
  expect(sayValue(usualLimits).mostBodyBytes).toBe(64 * 1024 * 1024);
});

it('a gateway logs only the error name of a failed request, and responds with status 503', async () => {
  const events: GatewayEvent[] = [];
  const broken = {
    placement: 'chat',
    port: 1,
    model: 'm',
    cancels: 'always' as const,
    maxRequests: 1,
    get servedName(): string {
      throw new TypeError('words of the request');
    },
  };
  const listen = { address: '127.0.0.1', port: 0 };
  const gateway = await startGateway({ listen, upstreams: [broken], ...files, proxies: [] }, usualLimits, (event) =>
    events.push(event),
  );
  ends.push(gateway.stop);
  expect((await ask(gateway, '/v1/models'))[0]).toBe(503);
  expect(events).toEqual([{ kind: 'request-failed', error: 'TypeError' }]);
});

onOnePage('gateway');
