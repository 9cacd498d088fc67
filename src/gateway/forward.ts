import { type ClientRequest, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { GatewayReplica, GatewayUpstream } from '../model/gateway.ts';
import { refusedHeader } from './answers.ts';
import type { Passage } from './flow.ts';
import { type Meter, meterFor } from './meter.ts';

/** One request on its way to a runtime, or to the gateway of another replica. */
export interface Forwarding {
  readonly upstream: GatewayUpstream;
  /** Set if another replica's gateway gets the request, with the client's key. */
  readonly replica?: Pick<GatewayReplica, 'host' | 'port'> & { readonly headers: Readonly<Record<string, string>> };
  readonly path: string;
  /** The client's Accept header. */
  readonly accept: string;
  /** JSON for the runtime, in pieces. */
  readonly body: readonly Buffer[];
  /** Receives the answer unchanged. */
  readonly response: ServerResponse;
  /** Aborted when the client disconnects. */
  readonly gone: AbortSignal;
  /** How long the runtime may send nothing. */
  readonly silentMs: number;
  readonly now: () => number;
  /** Receives every sign of an answer, refusals excluded. */
  readonly passage: Passage;
}

/** The result of a forwarded request. */
export type Forwarded =
  /** A complete answer; the times are absent if it was no stream or had no text. */
  | { readonly kind: 'answered'; readonly tokens: number; readonly firstAtMs?: number; readonly endAtMs: number }
  /** The runtime refused it with a status of 400 or more, which the client got. */
  | { readonly kind: 'declined' }
  | { readonly kind: 'client-gone' }
  /** No answer began; `reason` is a sentence for the client. `isUnreached`: the connection to a replica failed. */
  | { readonly kind: 'down'; readonly reason: string; readonly isUnreached?: true }
  /** Another replica's gateway refused the request with this code; a third replica may accept it. */
  | { readonly kind: 'refused'; readonly code: string }
  /** The answer broke off, and the client's connection was closed. */
  | { readonly kind: 'broken' };

const noAnswer = 'it gave no answer.';

const downReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens on its port; it is stopped, or still starting.',
  ECONNRESET: 'it broke the connection off.',
  ETIMEDOUT: 'it said nothing for too long.',
  ENOTFOUND: 'the name of its Mac is unknown to this Mac.',
  EHOSTUNREACH: 'its Mac cannot be reached.',
  EHOSTDOWN: 'its Mac cannot be reached.',
  ENETUNREACH: 'its Mac cannot be reached.',
};

const downReason = (error: Error): string =>
  ('code' in error && typeof error.code === 'string' ? downReasons[error.code] : undefined) ?? noAnswer;

/** Passes one request on, and its answer back without holding anything of it. Never throws. */
export function forward(way: Forwarding): Promise<Forwarded> {
  return new Promise((resolve) => {
    const { upstream, replica, body, gone } = way;
    const asked = httpRequest({
      host: replica?.host ?? '127.0.0.1',
      port: replica?.port ?? upstream.port,
      method: 'POST',
      path: way.path,
      // A connection that is used again may be one that the runtime has just closed.
      agent: false,
      timeout: way.silentMs,
      headers: {
        ...replica?.headers,
        'content-type': 'application/json',
        'content-length': lengthOf(body),
        accept: way.accept,
      },
    });
    const isConnected = replica === undefined ? () => true : watchConnection(asked);
    const leave = (): void => {
      if (replica !== undefined || upstream.canCancel) asked.destroy();
    };
    const settle = (outcome: Forwarded): void => {
      gone.removeEventListener('abort', leave);
      resolve(gone.aborted && outcome.kind !== 'answered' ? { kind: 'client-gone' } : outcome);
    };
    gone.addEventListener('abort', leave, { once: true });
    asked.on('timeout', () => asked.destroy(Object.assign(new Error('silent'), { code: 'ETIMEDOUT' })));
    asked.on('error', (error) => {
      settle({ kind: 'down', reason: downReason(error), ...(isConnected() ? {} : { isUnreached: true }) });
    });
    // Without any error Node ends a connection on which the runtime wants to speak another protocol.
    const end = (): void => settle({ kind: 'down', reason: noAnswer });
    asked.on('close', end);
    asked.on('response', (answer) => {
      asked.off('close', end);
      passBack(answer, way, settle);
    });
    send(asked, body);
  });
}

/** How long a connection to another Mac may take. A Mac without power refuses nothing: it is silent. */
const connectMs = 2_000;

/** After so much silence, TCP asks whether the other Mac is still there. */
const keepAliveMs = 10_000;

/** Limits the time of a connection to another Mac. @returns whether it was made */
function watchConnection(asked: ClientRequest): () => boolean {
  let isMade = false;
  const late = setTimeout(() => {
    asked.destroy(Object.assign(new Error('unreachable'), { code: 'EHOSTUNREACH' }));
  }, connectMs);
  asked.on('close', () => clearTimeout(late));
  asked.on('socket', (socket) => {
    socket.setKeepAlive(true, keepAliveMs);
    socket.once('connect', () => {
      isMade = true;
      clearTimeout(late);
    });
  });
  return () => isMade;
}

const lengthOf = (body: readonly Buffer[]): number => body.reduce((sum, { length }) => sum + length, 0);

function send(asked: ClientRequest, body: readonly Buffer[]): void {
  asked.setNoDelay(true);
  asked.cork();
  for (const part of body) asked.write(part);
  asked.end();
}

/** Statuses of answers: those below announce another answer, others do not exist. @see RFC 9110, section 15 */
const [leastStatus, mostStatus] = [200, 599];

/** Passes the answer on as it comes; what the client cannot take yet holds the runtime back. */
function passBack(answer: IncomingMessage, way: Forwarding, settle: (outcome: Forwarded) => void): void {
  const { response, gone, now, passage } = way;
  const status = answer.statusCode ?? 0;
  if (status < leastStatus || status > mostStatus) {
    settle({ kind: 'down', reason: 'it gave an answer that is not HTTP.' });
    answer.destroy();
    return;
  }
  const refused = way.replica === undefined ? undefined : refusalIn(status, answer);
  if (refused !== undefined) {
    settle({ kind: 'refused', code: refused });
    answer.destroy();
    return;
  }
  const contentType = answer.headers['content-type'] ?? 'application/octet-stream';
  const length = answer.headers['content-length'];
  const meter: Meter = meterFor(contentType);
  // Its HTTP front refuses requests in a hung mesh, too: that says nothing of those inside.
  const isDeclined = status >= 400;
  let firstAtMs: number | undefined;

  if (!gone.aborted) {
    response.writeHead(status, {
      'content-type': contentType,
      'cache-control': 'no-store',
      ...(length === undefined ? {} : { 'content-length': length }),
    });
    response.flushHeaders();
  }
  // Whoever is gone takes nothing any more: an answer that must be read to its end may not wait for them.
  const goOn = (): void => {
    passage.hold(false);
    answer.resume();
  };
  gone.addEventListener('abort', goOn, { once: true });
  response.on('drain', goOn);
  answer.on('data', (chunk: Buffer) => {
    const before = meter.pieces();
    if (meter.see(chunk)) firstAtMs ??= now();
    if (!isDeclined) passage.came(meter.pieces() > before);
    if (gone.aborted || response.write(chunk)) return;
    if (!isDeclined) passage.hold(true);
    answer.pause();
  });
  answer.on('end', () => {
    if (!gone.aborted) response.end();
    if (isDeclined) return settle({ kind: 'declined' });
    const outcome = answered(meter, firstAtMs, now());
    // An answer in one piece shows only now that it has text.
    if (meter.pieces() === 0 && outcome.tokens > 0) passage.came(true);
    settle(gone.aborted ? { kind: 'client-gone' } : outcome);
  });
  const breakOff = (): void => {
    // One whose end is the end of its connection is complete as soon as we leave, and never ends.
    if (answer.readableEnded) return;
    response.destroy();
    settle({ kind: 'broken' });
  };
  answer.on('error', breakOff);
  answer.on('close', breakOff);
}

/** No such key, no such model, a full queue, or not serving: another replica may accept the request. */
const refusedThere: readonly number[] = [401, 404, 429, 503];

function refusalIn(status: number, { headers }: IncomingMessage): string | undefined {
  const code = headers[refusedHeader];
  return refusedThere.includes(status) && typeof code === 'string' ? code : undefined;
}

const answered = (
  meter: Meter,
  firstAtMs: number | undefined,
  endAtMs: number,
): Extract<Forwarded, { kind: 'answered' }> => ({
  kind: 'answered',
  tokens: meter.result().tokens,
  endAtMs,
  ...(firstAtMs === undefined ? {} : { firstAtMs }),
});
