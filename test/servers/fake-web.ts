import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { ServerIdentity } from '../../src/sim/web/certificate.ts';
import {
  openWeb,
  partOf,
  piecesOf,
  type ServedAnswer,
  type Site,
  sendHead,
  type WebCall,
  webIdentity,
} from '../../src/sim/web/web-server.ts';

/** One answered request. */
export interface WebRecord {
  readonly host: string;
  readonly method: string;
  readonly path: string;
  readonly range: string | undefined;
  /** The Authorization header; a content network must never see one. */
  readonly authorization: string | undefined;
  readonly atMs: number;
  status: number;
  /** Bytes of the body that were passed to the network. */
  bytes: number;
}

/** What goes wrong with an answer. */
export type Fault =
  /** One byte of the body differs; `at` is its position in the whole file, by default the first byte. */
  | { readonly kind: 'wrong-bytes'; readonly at?: number }
  /** A git-lfs pointer arrives in place of the file. */
  | { readonly kind: 'pointer' }
  /** The whole file arrives with status 200, whatever range was asked for. */
  | { readonly kind: 'ignored-range' }
  /** The connection closes after this many bytes of the body. */
  | { readonly kind: 'truncated'; readonly afterBytes: number }
  /** Nothing arrives after this many bytes of the body, and the connection remains open. */
  | { readonly kind: 'stalled'; readonly afterBytes: number }
  | { readonly kind: 'slow'; readonly bytesPerSecond: number }
  /** The page redirects to itself. */
  | { readonly kind: 'redirect-loop' }
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> };

/** The requests that a fault hits. */
export interface FaultScope {
  readonly host?: string;
  /** Matches the path. */
  readonly path?: RegExp;
  /** Skips this many matching requests first. */
  readonly after?: number;
  /** Hits this many requests, then stops; by default all. */
  readonly times?: number;
}

interface SetFault extends FaultScope {
  readonly fault: Fault;
  seen: number;
}

/** Counts one request for each fault whose scope matches, and returns the first fault that is due. */
function dueFault(faults: readonly SetFault[], { host, path }: WebCall): Fault | undefined {
  let due: Fault | undefined;
  for (const one of faults) {
    if ((one.host ?? host) !== host || one.path?.test(path) === false) continue;
    one.seen += 1;
    const number = one.seen - (one.after ?? 0);
    if (number > 0 && number <= (one.times ?? Number.POSITIVE_INFINITY)) due ??= one.fault;
  }
  return due;
}

function withWrongByte(body: Uint8Array, at: number): Uint8Array {
  const wrong = Buffer.from(body);
  wrong[at] = (wrong[at] ?? 0) ^ 0xff;
  return wrong;
}

/** The answer that a client gets instead. Faults of the connection are in `sendBody`. */
function faulty(call: WebCall, answer: ServedAnswer, fault: Fault | undefined): ServedAnswer {
  switch (fault?.kind) {
    case 'wrong-bytes':
      return answer.body === undefined ? answer : { ...answer, body: withWrongByte(answer.body, fault.at ?? 0) };
    case 'pointer': {
      const oid = call.path.slice(call.path.lastIndexOf('/') + 1);
      const text = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${answer.body?.length ?? 0}\n`;
      return { ...answer, body: Buffer.from(text) };
    }
    case 'ignored-range':
      return { ...answer, isRanged: false };
    case 'redirect-loop':
      return { status: 302, headers: { location: call.urlOf(call.host, `${call.path}?${call.query.toString()}`) } };
    case 'status':
      return { status: fault.status, ...(fault.headers === undefined ? {} : { headers: fault.headers }) };
    default:
      return answer;
  }
}

async function* timedPieces(body: Uint8Array, bytesPerSecond: number): AsyncGenerator<Uint8Array> {
  const step = Math.max(1, Math.floor(bytesPerSecond / 20));
  for (let at = 0; at < body.length; at += step) {
    yield body.subarray(at, at + step);
    await pause(50);
  }
}

/** Counts the pieces as the network takes them. */
async function* counted(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>, record: WebRecord) {
  for await (const piece of pieces) {
    yield piece;
    record.bytes += piece.length;
  }
}

async function sendBody(body: Uint8Array, response: ServerResponse, record: WebRecord, fault: Fault | undefined) {
  if (fault?.kind !== 'truncated' && fault?.kind !== 'stalled') {
    const pieces = fault?.kind === 'slow' ? timedPieces(body, fault.bytesPerSecond) : piecesOf(body);
    await pipeline(Readable.from(counted(pieces, record)), response).catch(() => undefined);
    return;
  }
  const sent = body.subarray(0, fault.afterBytes);
  record.bytes = sent.length;
  await new Promise<void>((resolve) => response.write(sent, () => resolve()));
  if (fault.kind === 'truncated') response.socket?.end();
  else await new Promise((resolve) => response.once('close', resolve));
}

/** One identity for all servers of a test file, because a key pair takes time. */
const identities = new Map<string, ServerIdentity>();

function identityFor(hosts: readonly string[]): ServerIdentity {
  const key = hosts.join(' ');
  const found = identities.get(key) ?? webIdentity(hosts, new Date());
  identities.set(key, found);
  return found;
}

/**
 * HTTPS servers for these hosts with switchable faults and a record of every request. `README.md` in this folder shows
 * how nodes and this process reach them.
 */
export async function openFakeWeb(sites: ReadonlyMap<string, Site>) {
  const faults: SetFault[] = [];
  const requests: WebRecord[] = [];
  const web = await openWeb({
    sites,
    identity: identityFor([...sites.keys()]),
    deliver: async (call, answer, response) => {
      const { host, method, path, headers } = call;
      const { range, authorization } = headers;
      const record = { host, method, path, range, authorization, atMs: Date.now(), status: answer.status, bytes: 0 };
      requests.push(record);
      const fault = dueFault(faults, call);
      const part = partOf(faulty(call, answer, fault), range);
      record.status = part.status;
      sendHead(part, response);
      if (method === 'HEAD') response.end();
      else await sendBody(part.body ?? Buffer.alloc(0), response, record, fault);
    },
  });
  const matching = (scope: Pick<FaultScope, 'host' | 'path'>): readonly WebRecord[] =>
    requests.filter(({ host, path }) => (scope.host ?? host) === host && scope.path?.test(path) !== false);
  return {
    ...web,
    requests,
    count: (scope: Pick<FaultScope, 'host' | 'path'>): number => matching(scope).length,
    /** Bytes of files, without those of refusals and redirects. */
    bytes: (scope: Pick<FaultScope, 'host' | 'path'>): number =>
      matching(scope).reduce((sum, { bytes, status }) => sum + (status === 200 || status === 206 ? bytes : 0), 0),
    /** Adds a fault; the first one in scope applies. The returned function removes it. */
    fault: (fault: Fault, scope: FaultScope = {}): (() => void) => {
      const one = { ...scope, fault, seen: 0 };
      faults.push(one);
      return () => void faults.splice(faults.indexOf(one), 1);
    },
    /** Removes all faults and forgets all requests. */
    reset: (): void => {
      faults.length = 0;
      requests.length = 0;
    },
  };
}

export type FakeWeb = Awaited<ReturnType<typeof openFakeWeb>>;
