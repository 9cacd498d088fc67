import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type ServerOpts, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { jsonObject, parsedJson } from '../../../model/digest.ts';

/** Requests on the control socket, one JSON document per line. The last six have arguments. */
export const asks = [
  ...(['status', 'log', 'fault-list', 'hands', 'stop'] as const),
  ...(['fault-set', 'fault-clear', 'power-on', 'outlet', 'act', 'address'] as const),
];

export interface ControlRequest {
  readonly ask: (typeof asks)[number];
  readonly words?: readonly string[];
}

/** A response, one JSON document per line. */
export type ControlAnswer =
  | { readonly simulated: true; readonly ok: true; readonly value: unknown }
  | { readonly simulated: true; readonly ok: false; readonly diagnostics: readonly unknown[] };

/**
 * Maximum length of a socket path in bytes. The system's limit is 108 on Linux and 104 on macOS, including the
 * terminating zero. Node does not reject a longer path, but listens on a truncated one.
 */
const maxSocketPathBytes = 103;
const temporaryPrefix = 'mw-sim-';

const fits = (path: string): boolean => Buffer.byteLength(path) <= maxSocketPathBytes;

/** A socket's path in the folder, or in a short temporary folder; `longest` is the longest name in a folder of them. */
export async function chooseSocketPath(folder: string, name: string, longest = ''): Promise<string> {
  const inside = join(folder, name);
  if (fits(join(inside, longest))) return inside;
  const base = fits(join(tmpdir(), `${temporaryPrefix}XXXXXX`, name, longest)) ? tmpdir() : '/tmp';
  return join(await mkdtemp(join(base, temporaryPrefix)), name);
}

/** Removes a socket or a folder of sockets, and also its folder if that was created for it. */
export async function removeSocket(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  if (basename(dirname(path)).startsWith(temporaryPrefix)) await rm(dirname(path), { recursive: true, force: true });
}

/**
 * Listens on a socket that no other server uses. When the server closes, clients have half a second to read pending
 * data.
 *
 * @throws the system's error if the socket cannot be created
 */
export async function openSocket(path: string, options: ServerOpts, serve: (client: Socket) => void) {
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

/** The object in a JSON text; undefined if there is none. */
export const parseObject = (text: string) => jsonObject(parsedJson(text));

const isAnswer = (value: object): value is ControlAnswer => 'simulated' in value && 'ok' in value;

/** Sends a request to a simulator; undefined if nothing listens, the response is invalid, or the request times out. */
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
      const value = parseObject(line);
      end(value !== undefined && isAnswer(value) ? value : undefined);
    });
    socket.once('connect', () => socket.write(`${JSON.stringify(request)}\n`));
  });
}
