import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type DelayingProxy, type ProxyOptions, startDelayingProxy } from './delaying-proxy.ts';

const oneWayMs = 20;
const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** A server that answers each byte `?` with `!`, behind a proxy; optionally with a greeting first. */
async function answering(greeting: string, more: Partial<ProxyOptions> = {}): Promise<DelayingProxy> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    if (greeting !== '') socket.write(greeting);
    socket.on('data', (piece: Buffer) => socket.write('!'.repeat(piece.length)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const targetPort = typeof address === 'object' && address !== null ? address.port : 0;
  const proxy = await startDelayingProxy({ targetPort, oneWayMs, ...more });
  open.push(
    () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(resolve);
      }),
    proxy.stop,
  );
  return proxy;
}

/** Sends the pieces one by one, each after the answers to the previous one. */
async function converse(proxy: DelayingProxy, greeting: string, pieces: readonly string[]): Promise<number> {
  const socket = connect({ host: '127.0.0.1', port: proxy.port });
  await once(socket, 'connect');
  let got = 0;
  socket.on('data', (piece: Buffer) => {
    got += piece.length;
  });
  const until = async (length: number): Promise<void> => {
    while (got < length) await once(socket, 'data');
  };
  await until(greeting.length);
  let wanted = greeting.length;
  for (const piece of pieces) {
    socket.write(piece);
    wanted += piece.length;
    await until(wanted);
  }
  socket.destroy();
  return got;
}

describe('the delaying proxy', () => {
  it('counts one round trip for the connection and one for each awaited answer', async () => {
    const proxy = await answering('');
    await converse(proxy, '', ['?', '?', '?', '?', '?']);
    expect(proxy.counts()).toMatchObject({ connections: 1, roundTrips: 6, turns: 5, clientBytes: 5, serverBytes: 5 });
  });

  it('counts one round trip for bytes sent together', async () => {
    const proxy = await answering('');
    await converse(proxy, '', ['?????']);
    expect(proxy.counts().roundTrips).toBe(2);
  });

  it('counts a server greeting as the end of the second round trip', async () => {
    const proxy = await answering('hello');
    await converse(proxy, 'hello', []);
    expect(proxy.counts()).toMatchObject({ roundTrips: 2, turns: 0 });
  });

  it('cuts a connection after exactly the given number of bytes', async () => {
    const proxy = await answering('0123456789', { cutAfterServerBytes: 7 });
    const socket = connect({ host: '127.0.0.1', port: proxy.port });
    const pieces: Buffer[] = [];
    socket.on('data', (piece: Buffer) => pieces.push(piece));
    await once(socket, 'end');
    expect(Buffer.concat(pieces).toString()).toBe('0123456');
    socket.destroy();
  });

  it('drops all data after it is frozen', async () => {
    const proxy = await answering('');
    const socket = connect({ host: '127.0.0.1', port: proxy.port });
    await once(socket, 'connect');
    socket.write('?');
    await once(socket, 'data');
    proxy.freeze();
    let got = 0;
    socket.on('data', () => {
      got += 1;
    });
    socket.write('?');
    await new Promise((resolve) => setTimeout(resolve, 6 * oneWayMs));
    expect([got, socket.readyState]).toEqual([0, 'open']);
    socket.destroy();
  });
});
