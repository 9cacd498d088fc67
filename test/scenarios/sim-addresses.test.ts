import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { openAddresses } from '../../src/sim/hosts/control/addresses.ts';

const opened: { readonly close: () => unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function listening(serve: (client: Socket) => void): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, serve);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  opened.push(server);
  return server;
}

async function addresses(ports: Readonly<Record<string, number>>, earlier: Readonly<Record<string, number>> = {}) {
  const open = await openAddresses((node, port) => ports[`${node}:${port}`], earlier);
  opened.push(open);
  return open;
}

/** Sends a text, ends its own side, and returns the whole answer. */
async function ask(port: number, question = ''): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end(question);
  return text(socket);
}

const long = 'x'.repeat(1_000_000);

describe('addresses of endpoints on this computer', () => {
  it("connect to each node's program, even if a client finishes sending before the response", async () => {
    const echo = await listening((client) => {
      let asked = 'one ';
      client.on('data', (data) => {
        asked += data;
      });
      client.once('end', () => client.end(asked));
    });
    const other = await listening((client) => client.end('two'));
    const { portFor } = await addresses({ 'mac-1:80': portOf(echo), 'mac-2:80': portOf(other) });
    expect(await ask(await portFor('mac-1:80'), long)).toBe(`one ${long}`);
    expect(await ask(await portFor('mac-2:80'))).toBe('two');
  });

  it('stay the same, even in the next run', async () => {
    const first = await addresses({});
    const [port, again] = await Promise.all([first.portFor('mac-1:80'), first.portFor('mac-1:80')]);
    expect(again).toBe(port);
    const all = first.all();
    await first.close();
    const next = await addresses({}, all);
    expect(await next.portFor('mac-1:80')).toBe(port);
  });

  it('change if another program has since taken the port', async () => {
    const taken = portOf(await listening((client) => client.end('not a Mac')));
    const mac = await listening((client) => client.end('a Mac'));
    const { portFor } = await addresses({ 'mac-1:80': portOf(mac) }, { 'mac-1:80': taken });
    const port = await portFor('mac-1:80');
    expect(port).not.toBe(taken);
    expect(await ask(port)).toBe('a Mac');
  });

  it("reset a sending client's connection if nothing listens on the Mac's port", async () => {
    const gone = await listening(() => undefined);
    const ports = { 'mac-1:80': portOf(gone) };
    gone.close();
    await once(gone, 'close');
    const { portFor } = await addresses(ports);
    for (const port of [await portFor('mac-1:80'), await portFor('mac-1:81')]) {
      const client = connect(port, '127.0.0.1');
      await once(client, 'connect');
      client.write('hello');
      await expect(once(client, 'close')).rejects.toMatchObject({ code: 'ECONNRESET' });
    }
  });

  it('disconnect their clients when they close', async () => {
    const mac = await listening((client) => client.write('I wait'));
    const open = await addresses({ 'mac-1:80': portOf(mac) });
    const port = await open.portFor('mac-1:80');
    const client = connect(port, '127.0.0.1');
    await once(client, 'data');
    const ended = once(client, 'close');
    await open.close();
    await ended;
    await expect(ask(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
