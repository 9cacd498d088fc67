import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const sweepEveryMs = 50;

/** Ends a server: nobody new, and whoever is inside may finish within `graceMs`. */
export type CloseServer = (graceMs: number) => Promise<void>;

/**
 * Watches the connections of a server, so that its end waits for requests alone: Node itself also waits for connections
 * on which nothing was ever asked, as clients open them ahead.
 */
export function watchConnections(server: Server): CloseServer {
  const all = new Set<Socket>();
  const busy = new Set<Socket>();
  server.on('connection', (socket) => {
    all.add(socket);
    socket.on('close', () => all.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    busy.add(socket);
    response.on('close', () => busy.delete(socket));
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
