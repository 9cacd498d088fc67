import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate as otherWork } from 'node:timers/promises';
import { listening } from '../rack/listening.ts';
import { chatHead } from '../scenarios/gateway-process.ts';
import { drained } from '../scenarios/gateway-upstream.ts';
import { chat } from '../scenarios/test-gateway.ts';
import { until } from '../until.ts';

/** A runtime whose answers are `slow`, `long` or one endless `line`, as the request's `user` says. */
export interface BadRuntime {
  readonly port: number;
  /** True while it answers all of the requests that {@link sendAsNeighbors} sends. */
  readonly isBusy: () => boolean;
  readonly close: () => Promise<void>;
}

const chunkedBodies = 4;
const answers = chunkedBodies + 2;
const silent = 1_500;
const longBody = 60_000_000;

/** Starts the runtime on loopback. */
export async function startBadRuntime(): Promise<BadRuntime> {
  let running = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    running += 1;
    response.on('close', () => {
      running -= 1;
    });
    const { user } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    if (user !== 'slow') await answerForEver(response, user === 'line');
  };
  const server = createServer((request, response) => void answer(request, response));
  const port = await listening(server);
  return {
    port,
    isBusy: () => running === answers,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** One endless line, byte by byte after its first megabytes, or lines of 100 KB. */
async function answerForEver(response: ServerResponse, isLine: boolean): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (isLine) response.write(`data: ${'x'.repeat(4_000_000)}`);
  const piece = isLine ? 'x' : `data: ${'x'.repeat(100_000)}\n\n`;
  while (!response.destroyed) {
    if (response.write(piece)) await otherWork();
    else await drained(response);
  }
}

/** A few addresses: a gateway keeps at most 256 connections of each. macOS has only one on its loopback interface. */
const addressOf = (at: number): string => `127.0.0.${process.platform === 'darwin' ? 1 : 2 + (at % 6)}`;

const bodyFor = (user: 'slow' | 'long' | 'line', bytes: number): string =>
  JSON.stringify({ ...chat(), stream: user !== 'slow', user, padding: 'x'.repeat(bytes) });

/**
 * All at once: four chunked bodies of 70 KB with slow answers, eight uploads that stall, a client that does not read,
 * an endless line in pieces of one byte, and 1,500 silent connections. Returns a function that ends them.
 */
export async function sendAsNeighbors(port: number, runtime: BadRuntime): Promise<() => void> {
  const sockets: Socket[] = [];
  const send = async (bytes: string | Buffer = ''): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: addressOf(sockets.length) });
    socket.on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write(bytes);
    return socket;
  };
  const whole = (body: string): string => `${chatHead(body.length)}${body}`;
  const slow = bodyFor('slow', 70_000);
  for (let at = 0; at < chunkedBodies; at += 1) {
    (await send(`${chatHead('chunked')}${slow.length.toString(16)}\r\n${slow}\r\n0\r\n\r\n`)).resume();
  }
  await send(whole(bodyFor('long', 0)));
  (await send(whole(bodyFor('line', 0)))).resume();
  await until(runtime.isBusy);
  const half = Buffer.from(`${chatHead(longBody)}${bodyFor('slow', longBody).slice(0, longBody / 2)}`);
  for (let at = 0; at < 8; at += 1) (await send(half)).resume();
  for (let at = 0; at < silent; at += 1) (await send()).resume();
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}
