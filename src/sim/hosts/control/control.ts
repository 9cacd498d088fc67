import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

/** What a simulator is asked over its control socket, one JSON document per line; the last four take words. */
export const asks = [
  ...(['status', 'log', 'fault-list', 'hands', 'stop'] as const),
  ...(['fault-set', 'fault-clear', 'power-on', 'act'] as const),
];

/** A question, with its words. */
export interface ControlRequest {
  readonly ask: (typeof asks)[number];
  readonly words?: readonly string[];
}

/** An answer, one JSON document per line. */
export type ControlAnswer =
  | { readonly simulated: true; readonly ok: true; readonly value: unknown }
  | { readonly simulated: true; readonly ok: false; readonly diagnostics: readonly unknown[] };

/**
 * Bytes of a socket path: 108 on Linux, 104 on macOS, with the closing zero. Node does not refuse a longer one, it
 * listens on the cut name.
 */
const maxSocketPathBytes = 103;
const temporaryPrefix = 'mw-sim-';

const fits = (path: string): boolean => Buffer.byteLength(path) <= maxSocketPathBytes;

/** Where a socket of this name goes: into the folder, or into a short temporary one when the path would be too long. */
export async function chooseSocketPath(folder: string, name: string): Promise<string> {
  const inside = join(folder, name);
  if (fits(inside)) return inside;
  const base = fits(join(tmpdir(), `${temporaryPrefix}XXXXXX`, name)) ? tmpdir() : '/tmp';
  return join(await mkdtemp(join(base, temporaryPrefix)), name);
}

/** Removes a socket, and its folder when that was made for it alone. */
export async function removeSocket(path: string): Promise<void> {
  await rm(path, { force: true });
  if (basename(dirname(path)).startsWith(temporaryPrefix)) await rm(dirname(path), { recursive: true, force: true });
}

/**
 * Listens on a socket, which no other server uses, and hands over every client. At the end clients have half a second
 * to read what was written.
 *
 * @throws the system's error when the socket cannot be made
 */
export async function openSocket(
  path: string,
  options: { readonly allowHalfOpen: boolean },
  serve: (client: Socket) => void,
) {
  await rm(path, { force: true });
  const clients = new Set<Socket>();
  const server = createServer(options, (client) => {
    clients.add(client);
    client.on('error', () => undefined);
    client.once('close', () => clients.delete(client));
    serve(client);
  });
  await once(server.listen(path), 'listening');
  return {
    close: async (): Promise<void> => {
      for (const client of clients) client.destroySoon();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        setTimeout(() => {
          for (const client of clients) client.destroy();
        }, 500).unref();
      });
      await removeSocket(path);
    },
  };
}

const isAnswer = (value: unknown): value is ControlAnswer =>
  typeof value === 'object' && value !== null && 'simulated' in value && 'ok' in value;

/** Asks a simulator; undefined when nobody listens, the answer is none, or the time is over. */
export function askControl(
  path: string,
  request: ControlRequest,
  timeoutMs: number,
): Promise<ControlAnswer | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (answer: ControlAnswer | undefined): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => end(undefined), timeoutMs);
    socket.on('error', () => end(undefined));
    socket.once('close', () => end(undefined));
    const lines = createInterface({ input: socket });
    lines.on('error', () => end(undefined));
    lines.once('line', (line) => {
      try {
        const value: unknown = JSON.parse(line);
        end(isAnswer(value) ? value : undefined);
      } catch {
        end(undefined);
      }
    });
    socket.once('connect', () => socket.write(`${JSON.stringify(request)}\n`));
  });
}
