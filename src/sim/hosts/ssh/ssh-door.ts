import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { ConnectionState } from '../../model/fleet.ts';
import type { NodeRecords } from '../records.ts';

/** What a host makes the SSH door of a node from. */
export interface DoorOptions {
  /** Serves a client that has come through the door: the server behind it is the host's own. */
  readonly serve: (client: Socket, connection: number) => void;
  /** Whether a client that has sent everything still hears the rest; a server that ends its side itself does not need it. */
  readonly allowHalfOpen?: boolean;
  /** Opens and shuts port 22 of the node itself, where it has one, together with the door. */
  readonly setInside?: (isOpen: boolean) => void;
  /** What the model says of the door at this moment. */
  readonly state: () => ConnectionState;
  readonly records: NodeRecords;
  /** Tried first; taken from an earlier run so that known_hosts entries stay true. */
  readonly preferredPort?: number;
}

/**
 * The SSH door of a simulated Mac, on whichever host: a port of the loopback interface that stands for its port 22. The
 * life of the Mac opens and shuts it; while Remote Login is off it stays shut, whatever else happens.
 */
export interface SshDoor {
  readonly port: number;
  /** Listens again on its port after {@link SshDoor.refuse}, if it does not listen. @throws the system's error when another program keeps the port */
  readonly listen: () => Promise<void>;
  /** Refuses new connections; living ones go on. */
  readonly refuse: () => void;
  /** Cuts every living connection. */
  readonly cut: () => void;
  /** Until it listens again connections are accepted and nothing ever comes of them, as from a Mac without current. */
  readonly fallSilent: () => void;
  /** Opens or shuts it as the model now says; a Mac that is not there opens it when it comes up. Open connections stay so. */
  readonly follow: (isThere: boolean) => Promise<void>;
  /** Refuses and cuts, for good. */
  readonly close: () => Promise<void>;
}

/** Opens the door of a node, unless Remote Login is off. @throws the system's error when no port of the loopback interface can be had */
export async function openSshDoor(options: DoorOptions): Promise<SshDoor> {
  const { serve, state, records, setInside, preferredPort, allowHalfOpen = false } = options;
  const clients = new Set<Socket>();
  let isSilent = false;
  const server = createServer({ noDelay: true, allowHalfOpen }, (client) => {
    track(client, clients, records);
    if (isSilent) return;
    const { dropAfterBytes } = state();
    if (dropAfterBytes !== undefined) dropAfter(client, dropAfterBytes);
    serve(client, records.counts().connections);
  });
  const isThere = preferredPort !== undefined && (await listenOn(server, preferredPort));
  if (!isThere) await listenOn(server, 0);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  const isOff = (): boolean => state().isRemoteLoginOff === true;
  const cut = (): void => {
    for (const client of clients) client.destroy();
  };
  const refuse = (): void => {
    setInside?.(false);
    server.close();
  };
  const listen = async (): Promise<void> => {
    if (isOff()) return;
    setInside?.(true);
    if (isSilent) cut();
    isSilent = false;
    await listenAgain(server, port);
  };
  const follow = async (isMacThere: boolean): Promise<void> => {
    if (isOff()) refuse();
    else if (isMacThere) await listen();
  };
  await follow(true);
  return {
    ...{ port, listen, refuse, cut, follow },
    fallSilent: () => {
      isSilent = true;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}

function track(client: Socket, clients: Set<Socket>, records: NodeRecords): void {
  clients.add(client);
  records.count('connections');
  client.on('error', () => undefined);
  client.once('close', () => {
    clients.delete(client);
    records.count('receivedBytes', client.bytesRead);
    records.count('sentBytes', client.bytesWritten);
  });
}

const loopback = '127.0.0.1';
const portAttempts = 200;
const portPauseMs = 50;

/** False when the port is taken. */
function listenOn(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      if (port !== 0 && (error.code === 'EADDRINUSE' || error.code === 'EACCES')) resolve(false);
      else reject(error);
    };
    server.once('error', failed);
    server.listen(port, loopback, () => {
      server.off('error', failed);
      resolve(true);
    });
  });
}

/** Somebody may have been given the port for a connection of their own in the meantime: it is waited for. */
async function listenAgain(server: Server, port: number): Promise<void> {
  for (let attempt = 0; attempt < portAttempts && !server.listening; attempt += 1) {
    if (await listenOn(server, port)) return;
    await pause(portPauseMs);
  }
  if (!server.listening) throw new Error(`port ${port} of a simulated node is taken by somebody else`);
}

const lingerMs = 2_000;

/**
 * Makes the node hang up after exactly `bytes` bytes towards the client. It ends with FIN, not RST: a reset would
 * discard what the client has not read yet, and the cut would not be exact. Only for a socket that is written to with
 * one argument and without a look at the result, as ssh2 and the namespace host do.
 */
function dropAfter(socket: Socket, bytes: number): void {
  const write = socket.write.bind(socket);
  let left = bytes;
  const cut = (): void => {
    socket.end();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
  Object.defineProperty(socket, 'write', {
    // Node itself replaces `write` when the client ends its side; a fixed property would end the simulator.
    configurable: true,
    writable: true,
    value: (chunk: Uint8Array): boolean => {
      if (left <= 0) return false;
      const part = chunk.subarray(0, left);
      left -= part.length;
      const isFlushed = write(part);
      if (left <= 0) cut();
      return isFlushed;
    },
  });
  if (left <= 0) cut();
}
