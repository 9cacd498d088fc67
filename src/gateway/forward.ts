import { type ClientRequest, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { GatewayReplica, GatewayUpstream } from '../model/gateway.ts';
import { breakConnection, errorAnswer, refusedHeader, sendAnswer } from './answers.ts';
import { renameModel } from './body/rename-model.ts';
import type { Passage } from './flow.ts';
import { type Meter, meterFor } from './meter.ts';

export interface AnswerLimits {
  /** How long a runtime may go without sending data. */
  readonly silentMs: number;
  /** How long a client may go without reading its response. */
  readonly unreadMs: number;
}

/** A request that is being forwarded to a runtime or to another replica's gateway. */
export interface Forwarding {
  readonly upstream: GatewayUpstream;
  /** Set if this runtime's responses need correcting; otherwise, the gateway forwards them unchanged. */
  readonly isCorrected?: boolean;
  /** Whether to close the connection to the runtime when the client disconnects. */
  readonly canCancel: boolean;
  /** Set if the request goes to another replica's gateway, along with the client's key. */
  readonly replica?: Pick<GatewayReplica, 'host' | 'port'> & { readonly headers: Readonly<Record<string, string>> };
  readonly path: string;
  /** The client's Accept header. */
  readonly accept: string;
  /** Returns the JSON for the runtime, in chunks; called only once. */
  readonly body: () => readonly Buffer[];
  /** Set if the body may still be sent to another replica as long as no response has started. */
  readonly isRepeatable?: boolean;
  /** Frees the body's memory when the body is no longer needed. */
  readonly freeBody: () => void;
  /** The response to the client, written as data arrives. */
  readonly response: ServerResponse;
  /** Aborted when the client disconnects. */
  readonly gone: AbortSignal;
  readonly limits: AnswerLimits;
  readonly now: () => number;
  /** Notified of every chunk of a response, except for refusals. */
  readonly passage: Passage;
}

export type Forwarded =
  /** The response was complete; `firstAtMs` is absent if the response was not streamed or had no text. */
  | { readonly kind: 'answered'; readonly tokens: number; readonly firstAtMs?: number; readonly endAtMs: number }
  /** The client got an error from the runtime: a status of 400 or higher, or an error event in a stream. */
  | { readonly kind: 'declined' }
  | { readonly kind: 'client-gone' }
  /** No response started; `reason` is part of an error message. `isUnreached` means that a replica was unreachable. */
  | { readonly kind: 'down'; readonly reason: string; readonly isUnreached?: true }
  /** Another replica's gateway refused the request with this code; a different replica may accept it. */
  | { readonly kind: 'refused'; readonly code: string }
  /** The response was incomplete, so the connection to the client was dropped. */
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

/** Forwards a request and passes the response back without storing it. Never throws. */
export function forward(way: Forwarding): Promise<Forwarded> {
  return new Promise((resolve) => {
    const { upstream, replica, gone, canCancel } = way;
    const body = way.body();
    const asked = httpRequest({
      host: replica?.host ?? '127.0.0.1',
      port: replica?.port ?? upstream.port,
      method: 'POST',
      path: way.path,
      // An agent might reuse a connection that the runtime has just closed.
      agent: false,
      timeout: way.limits.silentMs,
      headers: {
        ...replica?.headers,
        'content-type': 'application/json',
        'content-length': lengthOf(body),
        accept: way.accept,
      },
    });
    const isConnected = replica === undefined ? () => true : watchConnection(asked);
    const leave = (): void => {
      if (canCancel) asked.destroy();
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
    // If the runtime switches to a different protocol, Node closes the connection without an error.
    const end = (): void => settle({ kind: 'down', reason: noAnswer });
    asked.on('close', end);
    const freeBody = (): void => {
      const isNeeded = way.isRepeatable === true && !way.response.headersSent;
      if (asked.writableFinished && !isNeeded) way.freeBody();
    };
    asked.on('finish', freeBody);
    asked.on('response', (answer) => {
      asked.off('close', end);
      passBack(answer, way, settle);
      freeBody();
    });
    send(asked, body);
  });
}

/** The timeout for connecting to another Mac. A Mac that is off neither accepts nor refuses a connection. */
const connectMs = 2_000;

/** After this much time without data, TCP checks whether the other Mac still responds. */
const keepAliveMs = 10_000;

/** Sets a timeout for connecting to another Mac. @returns whether the connection was made */
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

/**
 * The range of status codes for final responses. Lower status codes are for interim responses; higher ones are invalid.
 *
 * @see RFC 9110, section 15
 */
const [leastStatus, mostStatus] = [200, 599];

/** Forwards the response as it arrives. A slow client slows down the runtime. */
function passBack(answer: IncomingMessage, way: Forwarding, settle: (outcome: Forwarded) => void): void {
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
  } else if (way.isCorrected === true && status >= leastError) correctError(answer, status, way, settle);
  else passContents(answer, status, way, settle);
}

const leastError = 400;

/**
 * The status codes for responses without content. Such a response must not specify a length, because a proxy could wait
 * for that many bytes. @see RFC 9110, section 8.6
 */
const withoutContent: readonly number[] = [204, 304];

function passContents(
  answer: IncomingMessage,
  status: number,
  way: Forwarding,
  settle: (outcome: Forwarded) => void,
): void {
  const { response, gone, now, passage, upstream, limits } = way;
  const contentType = answer.headers['content-type'] ?? 'application/octet-stream';
  const length = withoutContent.includes(status) ? undefined : answer.headers['content-length'];
  const meter: Meter = meterFor(contentType);
  // Even when a mesh is hung, its HTTP server can refuse requests, so a refusal proves nothing about those in flight.
  const isDeclined = status >= leastError;
  const isChecked = way.isCorrected === true && !isDeclined;
  const names = isChecked ? renameModel(upstream) : undefined;
  let firstAtMs: number | undefined;

  if (!gone.aborted) {
    response.writeHead(status, {
      'content-type': contentType,
      'cache-control': 'no-store',
      ...(length === undefined || names !== undefined ? {} : { 'content-length': length }),
    });
    response.flushHeaders();
  }
  const reader = watchReader(response, limits.unreadMs);
  // A disconnected client stops reading, but some responses must still be read to the end.
  const goOn = (): void => {
    reader.took();
    passage.hold(false);
    answer.resume();
  };
  gone.addEventListener('abort', goOn, { once: true });
  response.on('drain', goOn);
  answer.on('data', (chunk: Buffer) => {
    const before = meter.pieces();
    if (meter.see(chunk)) firstAtMs ??= now();
    if (!isDeclined) passage.came(meter.pieces() > before);
    if (gone.aborted || response.write(names?.rename(chunk) ?? chunk)) return;
    if (!isDeclined) passage.hold(true);
    reader.wait();
    answer.pause();
  });
  const outcome = (): Forwarded => {
    if (isDeclined || meter.hasError()) return { kind: 'declined' };
    const whole = answered(meter, firstAtMs, now());
    // Only the end of a non-streaming response shows that it contains text.
    if (meter.pieces() === 0 && whole.tokens > 0) passage.came(true);
    return gone.aborted ? { kind: 'client-gone' } : whole;
  };
  let isOver = false;
  const end = (isWhole: boolean): void => {
    if (isOver) return;
    isOver = true;
    if (!isWhole) breakConnection(response);
    else if (!gone.aborted) {
      reader.wait();
      response.end(names?.rest());
    }
    settle(isWhole ? outcome() : { kind: 'broken' });
  };
  answer.on('end', () => end(!isChecked || isWholeAnswer(meter, answer, way)));
  // A stream is complete once its end has been forwarded, even if the connection drops afterward.
  const breakOff = (): void => end(isChecked && meter.isEnded() === true);
  answer.on('error', breakOff);
  answer.on('close', breakOff);
}

/** Disconnects a client that stops reading its response; otherwise, it would hold its turn and connection forever. */
function watchReader(response: ServerResponse, unreadMs: number) {
  let late: NodeJS.Timeout | undefined;
  const took = (): void => clearTimeout(late);
  response.once('close', took);
  return {
    took,
    wait: (): void => {
      took();
      late = setTimeout(() => breakConnection(response), unreadMs);
    },
  };
}

/**
 * Whether a response is complete after its connection was closed normally. Without a length, as in HTTP/1.0, the
 * connection to a crashed runtime closes in the same way, so only the contents show whether the response is complete.
 */
function isWholeAnswer(meter: Meter, { headers }: IncomingMessage, { upstream }: Forwarding): boolean {
  const showsEnd = upstream.endsStreams === true;
  if (showsEnd && meter.isUnfinished()) return false;
  if (headers['content-type']?.includes('text/event-stream') === true) return !showsEnd || meter.isEnded() === true;
  const hasEnd = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  return hasEnd || meter.isEnded() !== false;
}

/** The maximum number of bytes to read from a runtime's error response; such responses are short. */
const mostErrorBytes = 65_536;

/** Forwards an error in the OpenAI API's format, or lets another replica handle the request. */
function correctError(
  answer: IncomingMessage,
  status: number,
  { response, gone, upstream }: Forwarding,
  settle: (outcome: Forwarded) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  answer.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > mostErrorBytes) answer.destroy();
    else chunks.push(chunk);
  });
  answer.on('error', () => undefined);
  answer.on('close', () => {
    const error = errorAnswer(status, Buffer.concat(chunks).toString('utf8'), upstream);
    if (typeof error !== 'string' && !gone.aborted) sendAnswer(response, error);
    settle(typeof error === 'string' ? { kind: 'down', reason: error } : { kind: 'declined' });
  });
}

/** After these status codes (key or model unknown, queue full, unavailable), another replica may take the request. */
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
