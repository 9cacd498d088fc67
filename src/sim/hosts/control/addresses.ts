import { connect, createServer, type Server, type Socket } from 'node:net';
import { listenOn } from '../fleet-host.ts';
import { createPortClaims } from '../link-table.ts';
import { createTurns } from '../turns.ts';
import type { Fleet } from './start-fleet.ts';

const loopback = '127.0.0.1';

/** Resets a connection, but only after the client has sent: `fetch` of Node.js 20 waits forever if it ends before. */
function reset(client: Socket): void {
  if (client.bytesRead > 0) client.resetAndDestroy();
  else client.once('readable', () => client.resetAndDestroy());
}

/** Connects a client to a port of this machine. Without a program at that port, the client's connection is reset. */
function forward(client: Socket, port: number): Socket {
  const server = connect({ port, host: loopback, allowHalfOpen: true, noDelay: true });
  server.on('error', () => reset(client));
  // Bytes that have already arrived still reach the client.
  server.once('end', () => server.once('close', () => client.destroySoon()));
  client.once('close', () => server.destroy());
  client.pipe(server);
  server.pipe(client);
  return server;
}

/**
 * Addresses on this computer that lead to ports of nodes, for clients that know nothing of simulated Macs. An address
 * exists from the first request for it until the fleet stops, whatever happens to its Mac.
 *
 * @param earlier ports of an earlier run by endpoint, which are kept if no other program uses them
 */
export async function openAddresses(realPort: Fleet['realPort'], earlier: Readonly<Record<string, number>>) {
  const ports = new Map<string, number>();
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  const claims = createPortClaims();
  const inTurn = createTurns();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };
  const serve = (endpoint: string, client: Socket): void => {
    keep(client);
    client.on('error', () => undefined);
    const at = endpoint.lastIndexOf(':');
    const port = realPort(endpoint.slice(0, at), Number(endpoint.slice(at + 1)));
    if (port === undefined) reset(client);
    else keep(forward(client, port));
  };
  const open = async (endpoint: string, preferred?: number): Promise<number> => {
    const known = ports.get(endpoint);
    if (known !== undefined) return known;
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => serve(endpoint, client));
    let port = await claims.take(preferred);
    while (!(await listenOn(server, port))) port = await claims.take();
    servers.push(server);
    ports.set(endpoint, port);
    return port;
  };
  for (const [endpoint, port] of Object.entries(earlier)) await open(endpoint, port);
  return {
    /** The port on 127.0.0.1 for an endpoint such as `studio-1:8080`, which is always the same. */
    portFor: (endpoint: string): Promise<number> => inTurn(() => open(endpoint)),
    all: (): Readonly<Record<string, number>> => Object.fromEntries(ports),
    /** Closes all connections, too. */
    close: async (): Promise<void> => {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
      await claims.close();
    },
  };
}
