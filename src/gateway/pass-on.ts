import { type ClientRequest, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { DoormanUpstream } from '../model/gateway.ts';
import { type Refusal, refusals } from './answers.ts';
import { type Door, withAnswer } from './doors.ts';
import { type Meter, meterFor, type Passage } from './flow.ts';
import { type BodyLimits, type BodyRoom, type Members, type RequestBody, readBody } from './read-body.ts';

/** What one request is passed on with. */
export interface Passing {
  readonly response: ServerResponse;
  readonly limits: BodyLimits & { readonly silentMs: number };
  /** Of all requests. */
  readonly room: BodyRoom;
  /** Aborted when the doorman is to end: who waits then is sent away. */
  readonly leaving: AbortSignal;
}

/**
 * Passes a request for text on to the runtime that it names, when it is its turn. Gives the refusal that is still to be
 * sent; undefined when the answer has been passed back, or nobody is there to take one.
 */
export async function passOn(
  request: IncomingMessage,
  path: string,
  open: readonly Door[],
  passing: Passing,
): Promise<Refusal | undefined> {
  const arrivedAtMs = performance.now();
  const gone = clientGone(passing.response);
  const body = await readBody(request, { ...passing, gone });
  if (body.kind === 'gone') return undefined;
  if (body.kind !== 'object') return bodyRefusal(body, passing.limits.mostBodyBytes);
  try {
    return await passBody({ request, path, body: body.members, arrivedAtMs, gone }, open, passing);
  } finally {
    body.free();
  }
}

interface Passed {
  readonly request: IncomingMessage;
  readonly path: string;
  readonly body: Members;
  readonly arrivedAtMs: number;
  readonly gone: AbortSignal;
}

async function passBody(
  { request, path, body, arrivedAtMs, gone }: Passed,
  open: readonly Door[],
  { response, limits, leaving }: Passing,
): Promise<Refusal | undefined> {
  const door = doorOf(body, open);
  if ('status' in door) return door;
  const { servedName, refusedFields = [] } = door.upstream;
  const field = refusedFields.find((name) => (textOf(body, name) ?? 'null') !== 'null');
  if (field !== undefined) return refusals.refusedField(field, servedName);
  const turn = await takeTurn(door, gone, leaving);
  if (turn === 'gone') return undefined;
  if ('status' in turn) {
    door.count((counts) => ({ ...counts, refused: counts.refused + 1 }));
    return turn;
  }
  const passage = door.flow.begin(textOf(body, 'stream') === 'true');
  try {
    const outcome = await forward({
      upstream: door.upstream,
      path,
      accept: request.headers.accept ?? '*/*',
      body: bodyFor(door, body),
      response,
      gone,
      silentMs: limits.silentMs,
      now: () => performance.now(),
      passage,
    });
    return accountFor(outcome, door, arrivedAtMs);
  } finally {
    passage.end();
    turn.giveBack();
  }
}

/** A member as the JSON in which it came. */
const textOf = (body: Members, name: string): string | undefined => body.get(name)?.toString('utf8');

/**
 * Clients send null for what they leave open. A runtime may take that for another value than its default, and load its
 * model anew for it: such a field is left out. Values are the bytes of the client, not copies.
 */
function bodyFor({ upstream: { model, refusedFields = [] } }: Door, body: Members): readonly Buffer[] {
  const kept = [...body].filter(([name]) => name !== 'model' && !refusedFields.includes(name));
  const parts = kept.flatMap(([name, value]) => [Buffer.from(`${JSON.stringify(name)}:`), value, Buffer.from(',')]);
  return [Buffer.from('{'), ...parts, Buffer.from(`"model":${JSON.stringify(model)}}`)];
}

/** Why a body is not passed on. */
export function bodyRefusal({ kind }: Exclude<RequestBody, { kind: 'object' }>, mostBytes: number): Refusal {
  if (kind === 'too-large') return refusals.tooLarge(mostBytes);
  if (kind === 'no-room') return refusals.noRoom();
  return kind === 'not-json' ? refusals.notJson() : refusals.badBody();
}

function doorOf(body: Members, open: readonly Door[]): Door | Refusal {
  const names = open.map(({ upstream }) => upstream.servedName);
  const text = textOf(body, 'model') ?? '';
  const model: string = text.startsWith('"') ? JSON.parse(text) : '';
  if (model === '') return refusals.noModel(names);
  return open.find(({ upstream }) => upstream.servedName === model) ?? refusals.unknownModel(model, names);
}

/** A signal that is aborted when the connection ends before the answer has. */
export function clientGone(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const look = (): void => {
    if (!response.writableFinished) controller.abort();
  };
  if (response.destroyed) look();
  else response.once('close', look);
  return controller.signal;
}

type Admission = { readonly giveBack: () => void } | Refusal | 'gone';

/** Whoever was let in stays inside while it waits for its turn, and is served even when the door is closed meanwhile. */
async function takeTurn(door: Door, gone: AbortSignal, leaving: AbortSignal): Promise<Admission> {
  const { servedName } = door.upstream;
  const before = await door.closedBy();
  if (before !== undefined) return refusals.closed(servedName, before);
  const turnedAway = new AbortController();
  const coming = door.turns.take(AbortSignal.any([gone, leaving, turnedAway.signal]));
  // Only from here on it counts as inside: the door may have been closed since the first look.
  const after = await door.closedBy();
  if (after !== undefined) turnedAway.abort();
  const turn = await coming;
  if (turn !== undefined && after === undefined && !gone.aborted && !leaving.aborted) return turn;
  turn?.giveBack();
  if (gone.aborted) return 'gone';
  if (leaving.aborted) return refusals.leaving();
  return after === undefined ? refusals.tooMany(servedName) : refusals.closed(servedName, after);
}

function accountFor(outcome: Forwarded, door: Door, arrivedAtMs: number): Refusal | undefined {
  if (outcome.kind === 'answered') {
    const { tokens, firstAtMs, endAtMs } = outcome;
    const times =
      firstAtMs === undefined ? {} : { firstTokenMs: firstAtMs - arrivedAtMs, generatingMs: endAtMs - firstAtMs };
    door.count((counts) => withAnswer(counts, { tokens, ...times }));
    return undefined;
  }
  door.count((counts) => ({ ...counts, failed: counts.failed + 1 }));
  return outcome.kind === 'down' ? refusals.down(door.upstream.servedName, outcome.reason) : undefined;
}

/** One request on its way to a runtime. */
export interface Forwarding {
  readonly upstream: DoormanUpstream;
  readonly path: string;
  /** What the client takes, as it said it. */
  readonly accept: string;
  /** JSON as the runtime wants it, in pieces. */
  readonly body: readonly Buffer[];
  /** Where the answer goes, byte for byte as it comes. */
  readonly response: ServerResponse;
  /** Aborted when the client is gone. */
  readonly gone: AbortSignal;
  /** How long the runtime may say nothing at all. */
  readonly silentMs: number;
  readonly now: () => number;
  /** Is told whenever something of the answer comes, unless it is a refusal. */
  readonly passage: Passage;
}

/** How it came out. */
type Forwarded =
  /** An answer to its end; the times are absent where it was no stream or had no text. */
  | { readonly kind: 'answered'; readonly tokens: number; readonly firstAtMs?: number; readonly endAtMs: number }
  /** The runtime refused it by a status of 400 or more; the client has that answer. */
  | { readonly kind: 'declined' }
  | { readonly kind: 'client-gone' }
  /** No answer has begun; `reason` is a sentence for the client. */
  | { readonly kind: 'down'; readonly reason: string }
  /** It broke off in the middle of an answer, and the client's connection with it. */
  | { readonly kind: 'broken' };

const noAnswer = 'it gave no answer.';

const downReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens on its port; it is stopped, or still starting.',
  ECONNRESET: 'it broke the connection off.',
  ETIMEDOUT: 'it said nothing for too long.',
};

const downReason = (error: Error): string =>
  ('code' in error && typeof error.code === 'string' ? downReasons[error.code] : undefined) ?? noAnswer;

/** Passes one request on, and its answer back without holding anything of it. Never throws. */
export function forward(way: Forwarding): Promise<Forwarded> {
  return new Promise((resolve) => {
    const { upstream, body, gone } = way;
    const asked = httpRequest({
      host: '127.0.0.1',
      port: upstream.port,
      method: 'POST',
      path: way.path,
      // A connection that is used again may be one that the runtime has just closed.
      agent: false,
      timeout: way.silentMs,
      headers: { 'content-type': 'application/json', 'content-length': lengthOf(body), accept: way.accept },
    });
    const leave = (): void => {
      if (upstream.canCancel) asked.destroy();
    };
    const settle = (outcome: Forwarded): void => {
      gone.removeEventListener('abort', leave);
      resolve(gone.aborted && outcome.kind !== 'answered' ? { kind: 'client-gone' } : outcome);
    };
    gone.addEventListener('abort', leave, { once: true });
    asked.on('timeout', () => asked.destroy(Object.assign(new Error('silent'), { code: 'ETIMEDOUT' })));
    asked.on('error', (error) => settle({ kind: 'down', reason: downReason(error) }));
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
