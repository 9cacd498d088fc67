import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const sweepEveryMs = 50;

export interface ConnectionLimits {
  readonly mostConnections: number;
  /** The limit per client address. Proxies are exempt because they have many clients. */
  readonly mostPerAddress: number;
}

/** Stops a server: new connections are refused, and requests in flight have `graceMs` milliseconds to finish. */
export type CloseServer = (graceMs: number) => Promise<void>;

/**
 * Limits the number of connections to a server. A connection above the limit replaces the oldest idle one. If no
 * connection is idle, the new connection is refused. Idle connections therefore never lock clients out.
 *
 * Stopping the server waits only for requests. Node itself would also wait for idle connections, which some clients
 * open in advance.
 *
 * @param proxies addresses that are exempt from the limit per address
 */
export function watchConnections(server: Server, limits: ConnectionLimits, proxies: readonly string[]): CloseServer {
  /** The open connections, oldest first. */
  const all = new Set<Socket>();
  /** The number of unfinished requests on each connection. */
  const busy = new Map<Socket, number>();

  function makeRoom(among: readonly Socket[], most: number): boolean {
    if (among.length < most) return true;
    const silent = among.find((one) => !busy.has(one));
    if (silent === undefined) return false;
    all.delete(silent);
    silent.destroy();
    return true;
  }
  function hasRoom({ remoteAddress }: Socket): boolean {
    const neighbors = [...all].filter((one) => one.remoteAddress === remoteAddress);
    const isBounded = remoteAddress !== undefined && !proxies.includes(remoteAddress);
    if (isBounded && !makeRoom(neighbors, limits.mostPerAddress)) return false;
    return makeRoom([...all], limits.mostConnections);
  }
  server.on('connection', (socket) => {
    if (!hasRoom(socket)) {
      socket.destroy();
      return;
    }
    all.add(socket);
    socket.on('close', () => all.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    busy.set(socket, (busy.get(socket) ?? 0) + 1);
    response.on('close', () => {
      const left = (busy.get(socket) ?? 1) - 1;
      if (left > 0) busy.set(socket, left);
      else busy.delete(socket);
    });
  });
  const sweep = (): void => {
    for (const socket of all) if (!busy.has(socket)) socket.destroy();
  };
  return (graceMs) =>
    new Promise((resolve) => {
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      const sweeping = setInterval(sweep, sweepEveryMs);
      server.close(() => {
        clearTimeout(cut);
        clearInterval(sweeping);
        resolve();
      });
      sweep();
    });
}
