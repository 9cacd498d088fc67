import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { httpGet, webAccess } from '../../../../src/cli/sources/http-get.ts';
import { fakeRun } from '../console-of.ts';

const intervalMs = 50;

/** The URL of a server that sends its answers in this many pieces. */
async function slowServer(count: number, piece: string): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200);
    response.flushHeaders();
    send(response, count, piece);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function send(response: ServerResponse, count: number, piece: string): void {
  if (count === 0) response.end();
  else response.write(piece, () => setTimeout(send, intervalMs, response, count - 1, piece));
}

/** The answer to a command with this `--deadline`. */
async function ask(url: string, deadline: number) {
  const { run } = fakeRun();
  return httpGet(url, { headers: {} }, webAccess({ ...run, options: { ...run.options, deadline } }));
}

describe("a server's answer", () => {
  it('is aborted after --deadline if its bytes arrive one by one', async () => {
    const answer = await ask(await slowServer(40, ' '), 500);
    expect(answer).toEqual({ why: expect.stringMatching(/^sent only \d+ bytes in \d+ s$/) });
  });

  it('gets more time the larger it is', async () => {
    const answer = await ask(await slowServer(40, ' '.repeat(4_096)), 1_500);
    expect(answer).toMatchObject({ status: 200, body: { length: 40 * 4_096 } });
  });

  it('is aborted after --deadline if no bytes arrive', async () => {
    const server = await slowServer(-1, '');
    expect(await ask(server, 300)).toEqual({ why: expect.stringMatching(/^sent /) });
  });
});
