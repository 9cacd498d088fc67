import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeTarget } from '../../src/apply/reach/session.ts';
import { startDelayingProxy } from '../proxy/delaying-proxy.ts';
import { shared } from '../rack/kept-running.ts';
import { listening } from '../rack/listening.ts';
import { eventually } from '../rack/running.ts';
import { type FaultServer, type Faults, startFaultServer } from '../sshd/fault-server.ts';
import { makeSshCase } from '../sshd/ssh-case.ts';
import { observe, startExampleRack, timelessFacts } from './observe-rack.ts';

const odd = 'studio-3';
const rack = shared(() => startExampleRack());
const keys = makeSshCase('mesh');
let healthy: Readonly<Record<string, unknown>>;
beforeAll(async () => {
  const observed = await observe(rack.names.map((name) => rack.way(name)));
  healthy = Object.fromEntries(rack.names.map((name) => [name, timelessFacts(observed, name)]));
});
afterAll(() => keys.remove());

/** A replacement for one node that a test can release. */
interface Replacement {
  readonly way: NodeTarget;
  /** Ends the wait of the client, so that the observation can end. */
  readonly release: () => void | Promise<void>;
  readonly stop: () => Promise<void>;
}

async function listen(onSocket: (socket: Socket) => void): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer(onSocket);
  const port = await listening(server);
  return { server, port };
}

const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

/** Accepts connections, writes `first` and then nothing more. */
async function silentAfter(first: string): Promise<Replacement> {
  const sockets = new Set<Socket>();
  const { server, port } = await listen((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).resume();
    if (first !== '') socket.write(first);
  });
  const release = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return { way: rack.way(odd, { port }), release, stop: () => close(server) };
}

/** A server with faults whose key is in the SSH target. */
async function faulty(faults: Faults): Promise<Replacement & { readonly server: FaultServer }> {
  const server = await startFaultServer(keys.host, faults);
  const way = rack.way(odd, { port: server.port, hostKey: keys.host.pair.publicLine });
  return { server, way, release: server.stop, stop: () => Promise.resolve() };
}

/** The node itself behind a connection that goes dead during the key exchange. */
async function blackHole(): Promise<Replacement> {
  const proxy = await startDelayingProxy({ targetPort: rack.fleet.nodes[odd]?.port ?? 0, oneWayMs: 50 });
  const watch = setInterval(() => {
    if (proxy.counts().serverBytes > 0) proxy.freeze();
  }, 5);
  return {
    way: rack.way(odd, { port: proxy.port }),
    release: proxy.cut,
    stop: async () => {
      clearInterval(watch);
      await proxy.stop();
    },
  };
}

const slow: Readonly<Record<string, () => Promise<Replacement>>> = {
  'sends nothing after the connection': () => silentAfter(''),
  'hangs in the key exchange': () => silentAfter('SSH-2.0-OpenSSH_9.8\r\n'),
  'becomes a black hole': blackHole,
  'hangs in the login': () => faulty({ onAuth: () => undefined }),
  'never ends the command': () => faulty({ onExec: ({ channel }) => channel.write('wait ...\n') }),
};

describe('nodes observed together with a slow one', () => {
  it.each(Object.entries(slow))('finish before the slow node if it %s', async (_, make) => {
    const replacement = await make();
    const order: string[] = [];
    const ways = rack.names.map((name) => (name === odd ? replacement.way : rack.way(name)));
    let isOver = false;
    const observing = observe(ways, { onNode: (node) => order.push(node) }).finally(() => {
      isOver = true;
    });
    const others = rack.names.filter((name) => name !== odd);
    expect(await eventually(() => order.length >= others.length)).toBe(true);
    expect([...order].sort()).toEqual(others);
    expect(isOver).toBe(false);
    await replacement.release();
    const observed = await observing;
    await replacement.stop();
    expect(order.at(-1)).toBe(odd);
    expect(Object.keys(observed.failures)).toEqual([odd]);
    for (const name of others) expect(timelessFacts(observed, name)).toEqual(healthy[name]);
  });
});

/** A port without a listener: the connection is refused immediately. */
async function refused(): Promise<NodeTarget> {
  const { server, port } = await listen(() => undefined);
  await close(server);
  return rack.way(odd, { port });
}

describe('a dead node', () => {
  it('causes a failure only for itself, and does not change the facts of the other nodes', async () => {
    const way = await refused();
    const observed = await observe(rack.names.map((name) => (name === odd ? way : rack.way(name))));
    expect(observed.failures[odd]?.map(({ code }) => code)).toEqual(['ssh/refused']);
    expect(Object.keys(observed.failures)).toEqual([odd]);
    for (const name of rack.names.filter((one) => one !== odd)) {
      expect(timelessFacts(observed, name)).toEqual(healthy[name]);
    }
  });
});

describe('a hostile node', () => {
  it('can pretend to be a different node, but does not change facts about other nodes', async () => {
    // The impostor is studio-1 itself, under the name of studio-3: all of its output is well formed.
    const impostor = rack.fleet.nodes['studio-1'];
    const way = rack.way(odd, {
      port: impostor?.port ?? 0,
      hostKey: impostor?.hostKey ?? '',
      rootPrefix: impostor?.root ?? '',
    });
    const observed = await observe(rack.names.map((name) => (name === odd ? way : rack.way(name))));
    expect(observed.failures).toEqual({});
    expect(timelessFacts(observed, odd)).toEqual(healthy['studio-1']);
    for (const name of rack.names.filter((one) => one !== odd)) {
      expect(timelessFacts(observed, name)).toEqual(healthy[name]);
    }
  });

  it('can flood its connection, but does not change facts about other nodes', async () => {
    const flood = Buffer.alloc(65_536, 'x');
    const replacement = await faulty({
      onExec: ({ channel }) => {
        const pour = (): void => {
          while (channel.writable && channel.write(flood));
          if (channel.writable) channel.once('drain', pour);
        };
        pour();
      },
    });
    const observed = await observe(rack.names.map((name) => (name === odd ? replacement.way : rack.way(name))));
    await replacement.release();
    expect(observed.failures[odd]?.map(({ code }) => code)).toEqual(['fact/too-much-output']);
    for (const name of rack.names.filter((one) => one !== odd)) {
      expect(timelessFacts(observed, name)).toEqual(healthy[name]);
    }
  });
});
