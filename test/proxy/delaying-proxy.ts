import { connect, createServer, type Socket } from 'node:net';

/** The treatment of data by a proxy. */
export interface ProxyOptions {
  /** On 127.0.0.1. */
  readonly targetPort: number;
  /** The delay of every piece in each direction. A round trip takes twice as long. */
  readonly oneWayMs?: number;
  /** After this many bytes from the server, the client's side is ended and the server's is destroyed. */
  readonly cutAfterServerBytes?: number;
}

/** A TCP proxy on loopback that simulates distance and counts round trips. */
export interface DelayingProxy {
  readonly port: number;
  readonly counts: () => ProxyCounts;
  /** Ends every connection on both sides immediately. */
  readonly cut: () => void;
  /** Drops all data in both directions from now on, silently: a black hole. */
  readonly freeze: () => void;
  readonly stop: () => Promise<void>;
}

/** The counts since the start. */
export interface ProxyCounts {
  readonly connections: number;
  /**
   * Round trips before the newest bytes of the client, on the longest connection, including the one of the TCP
   * connection. They are counted like logical clocks. A piece from the client has the number of round trips that the
   * client had seen when it sent the piece. A piece from the server has one more than the highest number that reached
   * the server. Bytes sent together, or in both directions at the same time, cost one; waiting for an answer costs one
   * more. The count is never too low. It is too high only if an end delays bytes for longer than one direction takes.
   * TCP's slow start does not count, because the proxy has a full window immediately.
   */
  readonly roundTrips: number;
  /** The number of changes from the client's pieces to the server's. */
  readonly turns: number;
  readonly clientBytes: number;
  readonly serverBytes: number;
}

interface Passage {
  readonly client: Socket;
  readonly server: Socket;
  /** The round trips that each end has seen. */
  clientSaw: number;
  serverSaw: number;
  isFrozen: boolean;
}

interface Tally {
  connections: number;
  roundTrips: number;
  turns: number;
  clientBytes: number;
  serverBytes: number;
  lastFrom: 'client' | 'server';
}

function note(tally: Tally, from: 'client' | 'server', bytes: number): void {
  if (from === 'server' && tally.lastFrom === 'client') tally.turns += 1;
  tally.lastFrom = from;
  if (from === 'client') tally.clientBytes += bytes;
  else tally.serverBytes += bytes;
}

/** Timers of one length fire in the order in which they were set, so no piece overtakes another. */
const later = (ms: number, passage: Passage, act: () => void): void => {
  setTimeout(() => {
    if (!passage.isFrozen) act();
  }, ms);
};

function passOn(passage: Passage, tally: Tally, { oneWayMs = 0, cutAfterServerBytes }: ProxyOptions): void {
  const { client, server } = passage;
  let room = cutAfterServerBytes ?? Number.POSITIVE_INFINITY;
  client.on('data', (piece: Buffer) => {
    note(tally, 'client', piece.length);
    const saw = passage.clientSaw;
    later(oneWayMs, passage, () => {
      passage.serverSaw = Math.max(passage.serverSaw, saw);
      server.write(piece);
    });
  });
  server.on('data', (piece: Buffer) => {
    note(tally, 'server', piece.length);
    const saw = passage.serverSaw + 1;
    const part = piece.subarray(0, room);
    room -= part.length;
    const isLast = room <= 0;
    later(oneWayMs, passage, () => {
      passage.clientSaw = Math.max(passage.clientSaw, saw);
      tally.roundTrips = Math.max(tally.roundTrips, passage.clientSaw);
      client.write(part);
      if (!isLast) return;
      client.end();
      server.destroy();
    });
  });
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.on('end', () => later(oneWayMs, passage, () => to.end()));
    from.on('error', () => undefined);
    from.on('close', () => later(oneWayMs, passage, () => to.destroy()));
  }
}

/** Starts a proxy in front of a port of the loopback interface. */
export async function startDelayingProxy(options: ProxyOptions): Promise<DelayingProxy> {
  const tally: Tally = { connections: 0, roundTrips: 0, turns: 0, clientBytes: 0, serverBytes: 0, lastFrom: 'server' };
  const passages = new Set<Passage>();
  const listener = createServer({ noDelay: true }, (client) => {
    const server = connect({ host: '127.0.0.1', port: options.targetPort, noDelay: true });
    // The client's TCP connection is open: that was the first round trip, and the server knows this.
    const passage: Passage = { client, server, clientSaw: 1, serverSaw: 1, isFrozen: false };
    tally.connections += 1;
    tally.roundTrips = Math.max(tally.roundTrips, 1);
    passages.add(passage);
    passOn(passage, tally, options);
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  const cut = (): void => {
    for (const { client, server } of passages) {
      client.destroy();
      server.destroy();
    }
  };
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    counts: () => {
      const { lastFrom: _, ...counts } = tally;
      return counts;
    },
    cut,
    freeze: () => {
      for (const passage of passages) passage.isFrozen = true;
    },
    stop: () =>
      new Promise((resolve) => {
        cut();
        listener.close(() => resolve());
      }),
  };
}
