import { connect, createServer, type Socket } from 'node:net';
import { listening } from '../rack/listening.ts';

/** The answer on a connection, until the connection ends or is quiet. */
export interface RawAnswer {
  /** The status of each answer, in order. */
  readonly statuses: readonly number[];
  readonly text: string;
}

/** A connection without bytes for this long counts as quiet. */
const quietMs = 300;

/** Sends bytes unchanged, and reads until the other side closes or is quiet. */
export const sendRaw = (port: number, bytes: string | Buffer): Promise<RawAnswer> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1' });
    socket.setTimeout(quietMs, () => socket.destroy());
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      const text = Buffer.concat(chunks).toString('latin1');
      resolve({ text, statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status)) });
    });
    socket.write(bytes);
  });

/** A server that answers every request with bytes of the test, and closes. */
export interface RawUpstream {
  readonly port: number;
  readonly answerWith: (bytes: Buffer) => void;
  readonly close: () => Promise<void>;
}

/** Starts a raw upstream on loopback. */
export async function startRawUpstream(): Promise<RawUpstream> {
  const sockets = new Set<Socket>();
  let answer: Buffer = Buffer.alloc(0);
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    socket.once('data', () => socket.end(answer));
  });
  const port = await listening(server);
  return {
    port,
    answerWith: (bytes) => {
      answer = bytes;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
