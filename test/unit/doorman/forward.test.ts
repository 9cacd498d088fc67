import { createServer, request, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { Passage } from '../../../src/doorman/flow.ts';
import { type Forwarded, forward } from '../../../src/doorman/forward.ts';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

function portOf(server: Server): Promise<number> {
  servers.push(server);
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const bound = server.address();
      resolve(typeof bound === 'object' && bound !== null ? bound.port : 0);
    });
  });
}

/** What the flow is told of one request to a runtime that answers with this status: one for bytes, ten for text. */
async function toldOf(status: number): Promise<{ readonly outcome: string; readonly came: number }> {
  let came = 0;
  const seen = (hasText?: boolean): void => {
    came += hasText === true ? 10 : 1;
  };
  const passage: Passage = { came: seen, hold: () => undefined, end: () => undefined };
  const runtime = createServer((_asked, answer) => {
    answer.writeHead(status, { 'content-type': 'application/json' });
    answer.end('{"usage":{"completion_tokens":1}}');
  });
  const upstream = { placement: 'kimi', servedName: 'kimi', port: await portOf(runtime), model: 'm', canCancel: true };
  let done: (outcome: Forwarded) => void;
  const outcome = new Promise<Forwarded>((resolve) => {
    done = resolve;
  });
  const front = createServer((_asked, response) => {
    const gone = new AbortController().signal;
    const way = { path: '/v1/completions', accept: '*/*', body: [Buffer.from('{}')], silentMs: 5_000, now: () => 0 };
    void forward({ ...way, upstream: { ...upstream, maxRequests: 1 }, response, gone, passage }).then(done);
  });
  request({ port: await portOf(front), method: 'POST' }, (answer) => answer.resume()).end();
  return { outcome: (await outcome).kind, came };
}

describe('a request on its way to a runtime', () => {
  it('tells the flow of an answer, and of no refusal: a hung mesh refuses, too', async () => {
    expect(await toldOf(200)).toEqual({ outcome: 'answered', came: 11 });
    for (const status of [400, 503]) expect(await toldOf(status)).toEqual({ outcome: 'declined', came: 0 });
  });
});
