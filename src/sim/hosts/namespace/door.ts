import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { NodeDoor } from '../node-life.ts';
import type { NodeRecords } from '../records.ts';
import { dropAfter } from '../ssh/ssh-door.ts';

/** What stands on the loopback interface for port 22 of a node. */
export interface DoorOptions {
  /** Connects to the node from its office network. */
  readonly dial: () => Socket;
  readonly records: NodeRecords;
  /** Asked at each new connection: after how many bytes of the node it is cut, if at all. */
  readonly dropAfterBytes: () => number | undefined;
  readonly preferredPort?: number;
}

/** The door of one node. */
export interface Door extends NodeDoor {
  readonly port: number;
  /** From now on connections are accepted and nothing ever comes of them, as from a Mac without current. */
  readonly fallSilent: () => void;
  readonly close: () => Promise<void>;
}

const loopback = '127.0.0.1';
const attempts = 200;
const pauseMs = 50;

function listen(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      if (port !== 0 && error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    };
    server.once('error', failed);
    server.listen(port, loopback, () => {
      server.off('error', failed);
      resolve(true);
    });
  });
}

/** Joins a client with the node; bytes of the node go out by `write` alone, so that they can be counted and cut. */
function join(client: Socket, node: Socket): void {
  node.on('data', (chunk: Buffer) => {
    client.write(chunk);
    if (client.writableLength > 0) node.pause();
  });
  client.on('drain', () => node.resume());
  node.once('end', () => client.end());
  node.once('close', () => client.destroySoon());
  client.pipe(node);
  client.once('close', () => node.destroy());
}

/** Opens the door of a node, which listens from the beginning. @throws the system's error when there is no port */
export async function openDoor(options: DoorOptions): Promise<Door> {
  const { records } = options;
  const clients = new Set<Socket>();
  let isSilent = false;
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    clients.add(client);
    records.count('connections');
    client.on('error', () => undefined);
    client.once('close', () => {
      clients.delete(client);
      records.count('receivedBytes', client.bytesRead);
      records.count('sentBytes', client.bytesWritten);
    });
    if (isSilent) return;
    const limit = options.dropAfterBytes();
    if (limit !== undefined) dropAfter(client, limit);
    join(client, options.dial());
  });
  const isThere = options.preferredPort !== undefined && (await listen(server, options.preferredPort));
  if (!isThere) await listen(server, 0);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const cut = (): void => {
    for (const client of clients) client.destroy();
  };
  const listenAgain = async (): Promise<void> => {
    if (isSilent) cut();
    isSilent = false;
    for (let attempt = 0; attempt < attempts && !server.listening; attempt += 1) {
      if (await listen(server, port)) return;
      await pause(pauseMs);
    }
    if (!server.listening) throw new Error(`port ${port} of a simulated node is taken by somebody else`);
  };
  return {
    port,
    listen: listenAgain,
    refuse: () => {
      server.close();
    },
    cut,
    fallSilent: () => {
      isSilent = true;
    },
    close: () =>
      new Promise((resolve) => {
        if (server.listening) server.close(() => resolve());
        else resolve();
        cut();
      }),
  };
}
