import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

/** What a simulator is asked over its control socket, one JSON document per line. */
export type ControlRequest =
  | { readonly ask: 'status' | 'log' | 'fault-list' | 'hands' | 'stop' }
  | { readonly ask: 'fault-set' | 'fault-clear' | 'power-on' | 'act'; readonly words: readonly string[] };

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
const maxLineBytes = 65_536;

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

const words = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : undefined;

const bareAsks = ['status', 'log', 'fault-list', 'hands', 'stop'] as const;
const wordedAsks = ['fault-set', 'fault-clear', 'power-on', 'act'] as const;

function parseRequest(line: string): ControlRequest | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || !('ask' in value)) return undefined;
    const { ask } = value;
    const bare = bareAsks.find((one) => one === ask);
    if (bare !== undefined) return { ask: bare };
    const given = 'words' in value ? words(value.words) : undefined;
    const worded = wordedAsks.find((one) => one === ask);
    return worded === undefined || given === undefined ? undefined : { ask: worded, words: given };
  } catch {
    return undefined;
  }
}

/** A listening control socket. */
export interface ControlServer {
  readonly close: () => Promise<void>;
}

/** Answers every line on the socket; a line that is no request ends the connection. */
export async function serveControl(
  path: string,
  answer: (request: ControlRequest) => Promise<ControlAnswer>,
): Promise<ControlServer> {
  await rm(path, { force: true });
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    client.on('error', () => undefined);
    client.once('close', () => clients.delete(client));
    const lines = createInterface({ input: client, crlfDelay: Number.POSITIVE_INFINITY });
    lines.on('error', () => undefined);
    lines.on('line', (line) => {
      const request = line.length > maxLineBytes ? undefined : parseRequest(line);
      if (request === undefined) {
        client.destroy();
        return;
      }
      answer(request).then(
        (value) => client.write(`${JSON.stringify(value)}\n`),
        () => client.destroy(),
      );
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => resolve());
  });
  return {
    close: async () => {
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

function isAnswer(value: unknown): value is ControlAnswer {
  return typeof value === 'object' && value !== null && 'simulated' in value && 'ok' in value;
}

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
