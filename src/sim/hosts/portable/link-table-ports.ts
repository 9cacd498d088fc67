import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { createServer } from 'node:net';

/** Loopback ports that nobody else gets while they are held. */
export interface PortClaims {
  /** A TCP port of 127.0.0.1 on which a process of a node can listen at any later time. */
  readonly take: () => Promise<number>;
  /** Gives all of them back. */
  readonly close: () => Promise<void>;
}

/** Below the ports that Linux (32768) and macOS (49152) give to outgoing connections. */
const range = { from: 20_000, to: 32_768 } as const;
const attempts = 200;
const loopback = '127.0.0.1';

/** A UDP socket on the same number: simulators ask for it first, so two of them never hand out one port. */
function claim(port: number): Promise<Socket | undefined> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.once('error', () => {
      socket.close();
      resolve(undefined);
    });
    socket.bind({ port, address: loopback, exclusive: true }, () => resolve(socket.unref()));
  });
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, loopback, () => server.close(() => resolve(true)));
  });
}

/** Starts to hold ports; none yet. */
export function createPortClaims(): PortClaims {
  const held = new Set<Socket>();
  const tryTake = async (): Promise<number | undefined> => {
    const port = randomInt(range.from, range.to);
    const socket = await claim(port);
    if (socket === undefined) return undefined;
    if (await isFree(port)) {
      held.add(socket);
      return port;
    }
    socket.close();
    return undefined;
  };
  return {
    take: async () => {
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const port = await tryTake();
        if (port !== undefined) return port;
      }
      throw new Error(`no free loopback port between ${range.from} and ${range.to}`);
    },
    close: async () => {
      await Promise.all([...held].map((socket) => new Promise<void>((resolve) => socket.close(() => resolve()))));
      held.clear();
    },
  };
}
