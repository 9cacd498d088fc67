import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createServerIdentity, type ServerIdentity } from './certificate.ts';

export interface WebCall {
  readonly host: string;
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /**
   * The URL of a page in this client's form. Through the mirror, a different host has a second name and port of this
   * computer, so that a client sees a different host there as well.
   */
  readonly urlOf: (host: string, pathAndQuery: string) => string;
}

export interface ServedAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Whether a client may ask for a part of the body. */
  readonly isRanged?: boolean;
}

export type Site = (call: WebCall) => ServedAnswer;

export const jsonAnswer = (status: number, value: unknown, headers: ServedAnswer['headers'] = {}): ServedAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: Buffer.from(JSON.stringify(value)),
});

/** Sends an answer. Resolves when the last byte is sent or the client is gone. */
export type Deliver = (call: WebCall, answer: ServedAnswer, response: ServerResponse) => Promise<void>;

interface WebOptions {
  /** By host name, such as `huggingface.co`. */
  readonly sites: ReadonlyMap<string, Site>;
  /** Answers for every other host, through the mirror only. */
  readonly elsewhere?: Site;
  readonly identity: ServerIdentity;
  readonly deliver?: Deliver;
}

/** The two names of this computer in the mirror's URLs. */
const mirrorNames = ['127.0.0.1', 'localhost'] as const;

/** The certificate for these hosts and for the mirror. */
export const webIdentity = (hosts: readonly string[], now: Date): ServerIdentity =>
  createServerIdentity([...hosts, ...mirrorNames], now);

/** The answer to a request for a part of the body, according to RFC 9110 section 14. */
export function partOf(answer: ServedAnswer, range: string | undefined): ServedAnswer {
  const body = answer.body ?? Buffer.alloc(0);
  const headers = { ...answer.headers, ...(answer.isRanged === true ? { 'accept-ranges': 'bytes' } : {}) };
  const [, from = '', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
  if (answer.isRanged !== true || answer.status !== 200 || from === '') return { ...answer, headers };
  if (Number(from) >= body.length) {
    return { status: 416, headers: { ...headers, 'content-range': `bytes */${body.length}` } };
  }
  const end = Math.min(to === '' ? body.length : Number(to) + 1, body.length);
  const contentRange = `bytes ${from}-${end - 1}/${body.length}`;
  return {
    status: 206,
    headers: { ...headers, 'content-range': contentRange },
    body: body.subarray(Number(from), end),
  };
}

const pieceBytes = 65_536;

/** The body in pieces, so that a client that leaves early is noticed. */
export function* piecesOf(body: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at += pieceBytes) yield body.subarray(at, at + pieceBytes);
}

export function sendHead(answer: ServedAnswer, response: ServerResponse): void {
  response.writeHead(answer.status, { 'content-length': answer.body?.length ?? 0, ...answer.headers });
}

const deliverWhole: Deliver = async (call, answer, response) => {
  const part = partOf(answer, call.headers.range);
  sendHead(part, response);
  if (call.method === 'HEAD') response.end();
  else await pipeline(Readable.from(piecesOf(part.body ?? Buffer.alloc(0))), response).catch(() => undefined);
};

/** The mirror's origin that a client used, and the one under which it sees other hosts. */
interface Origins {
  readonly own: string;
  readonly other: string;
}

/** A request as the call of one of the sites; undefined if no site has that name. */
function callOf(request: IncomingMessage, { sites, elsewhere }: WebOptions, origins: Origins): WebCall | undefined {
  const name = (request.headers.host ?? '').replace(/:\d+$/, '');
  const url = new URL(request.url ?? '/', 'https://web.invalid');
  const [, first = '', rest = ''] = /^\/([^/]+)(\/.*)?$/.exec(url.pathname) ?? [];
  const isMirror = !sites.has(name);
  const host = isMirror ? first : name;
  if (!sites.has(host) && (elsewhere === undefined || host === '')) return undefined;
  return {
    host,
    method: request.method ?? 'GET',
    path: decodeURIComponent(isMirror ? rest : url.pathname),
    query: url.searchParams,
    headers: request.headers,
    urlOf: (other, page) => {
      if (!isMirror) return `https://${other}${page}`;
      return `${other === host ? origins.own : origins.other}/${other}${page}`;
    },
  };
}

async function listenOn(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const notFound: ServedAnswer = { status: 404, body: Buffer.from('no such host here\n') };

/**
 * Real HTTPS servers on two loopback ports that answer for other hosts. A client reaches a host directly, if something
 * maps its name to a port here, and through the mirror: `https://127.0.0.1:PORT/HOST/path`.
 */
export async function openWeb(options: WebOptions) {
  const { sites, identity, deliver = deliverWhole } = options;
  const origins: string[] = [];
  const servers = mirrorNames.map((_, index) =>
    createServer(identity, (request, response) => {
      response.on('error', () => undefined);
      const own = `https://${request.headers.host ?? ''}`;
      const call = callOf(request, options, { own, other: origins[1 - index] ?? '' });
      const site = call === undefined ? undefined : (sites.get(call.host) ?? options.elsewhere);
      if (call === undefined || site === undefined) {
        sendHead(notFound, response);
        response.end(notFound.body);
      } else {
        void deliver(call, site(call), response);
      }
    }),
  );
  const ports = await Promise.all(servers.map(listenOn));
  origins.push(...mirrorNames.map((name, index) => `https://${name}:${ports[index]}`));
  const [first = 0] = ports;
  const lines = [
    ...[...sites.keys()].map((host) => `${host}:443 127.0.0.1:${first}`),
    ...ports.flatMap((port) => mirrorNames.map((name) => `${name}:${port} 127.0.0.1:${port}`)),
  ];
  return {
    /** The mirror: `ORIGIN/HOST/path` is `https://HOST/path`. */
    origin: origins[0] ?? '',
    /** The certificate that clients trust, as PEM. */
    ca: identity.cert,
    /** The content of `/.sim/web` of a simulated Mac that reaches these servers. */
    lines: lines.map((line) => `${line}\n`).join(''),
    connections: async (): Promise<number> => {
      // A connection that waits to be accepted is counted after a turn of the event loop.
      await setImmediate();
      const counts = await Promise.all(servers.map((server) => promisify(server.getConnections.bind(server))()));
      return counts.reduce((sum, one) => sum + one, 0);
    },
    close: (): Promise<void> => closeAll(servers),
  };
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  await Promise.all(
    servers.map((server) => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    }),
  );
}
