import { connect, createServer, type Socket } from 'node:net';
import { listening } from '../rack/listening.ts';

/** A TCP connection to a node that a test can cut at any moment. */
export interface CuttingProxy {
  readonly port: number;
  /** After this many more bytes to the node, drops all bytes from the node on open connections. */
  readonly muteAfter: (bytes: number) => void;
  /** Ends every open connection and accepts new ones. */
  readonly cut: () => void;
  /** Ends every open connection and refuses new ones. */
  readonly vanish: () => Promise<void>;
  readonly counts: { readonly connections: number };
  readonly stop: () => Promise<void>;
}

/** Starts a proxy between a run and one node. */
export async function startCuttingProxy(targetPort: number): Promise<CuttingProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const counts = { connections: 0 };
  const muted = new Set<Socket>();
  let untilMute = Number.POSITIVE_INFINITY;
  const server = createServer((near) => {
    counts.connections += 1;
    const far = connect({ host: '127.0.0.1', port: targetPort, noDelay: true });
    const pair = [near, far] as const;
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    near
      .on('data', (chunk: Buffer) => {
        far.write(chunk);
        untilMute -= chunk.length;
        if (untilMute > 0) return;
        untilMute = Number.POSITIVE_INFINITY;
        for (const [one] of pairs) muted.add(one);
      })
      .on('error', end)
      .on('close', end);
    far
      .on('data', (chunk) => muted.has(near) || near.write(chunk))
      .on('error', end)
      .on('close', end);
  });
  const port = await listening(server);
  const cut = (): void => {
    for (const [near, far] of pairs) {
      near.destroy();
      far.destroy();
    }
  };
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  return {
    port,
    muteAfter: (bytes) => {
      untilMute = bytes;
    },
    cut,
    vanish: () => {
      cut();
      return close();
    },
    counts,
    stop: async () => {
      cut();
      await close();
    },
  };
}
