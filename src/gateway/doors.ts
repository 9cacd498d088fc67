import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { type DoormanConfig, type DoormanCounts, type DoormanUpstream, doormanKeyDomain } from '../model/gateway.ts';
import { type Flow, makeFlow } from './flow.ts';

/** One placement behind the doorman, with what is known of it now. */
export interface Door {
  readonly upstream: DoormanUpstream;
  readonly turns: Turns;
  readonly flow: Flow;
  readonly own: OwnRequests;
  /** What opens it. */
  readonly keys: () => Promise<DoorKeys>;
  /** Why it takes no requests; undefined while it does. */
  readonly closedBy: () => Promise<string | undefined>;
  readonly counts: () => DoormanCounts;
  readonly count: (next: (counts: DoormanCounts) => DoormanCounts) => void;
}

/** For each turn at the runtime so many wait; whoever comes then is told to come again. */
const waitingPerTurn = 64;
const leastWaiting = 256;
const longestReason = 500;

/** The doors of a doorman, in the order of its file, with the counts of earlier runs. */
export function makeDoors({ upstreams, keysFolder, closedFolder, countsFile }: DoormanConfig): readonly Door[] {
  const nowEpochSeconds = Math.floor(Date.now() / 1_000);
  const before = readCounts(countsFile);
  return upstreams.map((upstream) => {
    let counts = before.get(upstream.placement) ?? countsFrom(nowEpochSeconds);
    return {
      upstream,
      turns: makeTurns(upstream.maxRequests, Math.max(leastWaiting, upstream.maxRequests * waitingPerTurn)),
      flow: makeFlow(() => performance.now()),
      own: makeOwnRequests(() => performance.now()),
      keys: watchedFile(join(keysFolder, upstream.placement), parseKeys),
      closedBy: watchedFile(join(closedFolder, upstream.placement), closingReason),
      counts: () => counts,
      count: (next) => {
        counts = next(counts);
      },
    };
  });
}

/** The reason in a closing file; one that nobody can read closes as well. */
export function closingReason(sight: FileSight): string | undefined {
  if (sight.kind === 'absent') return undefined;
  if (sight.kind === 'unreadable') return 'it was closed by its operator.';
  const line = sight.text.split('\n')[0]?.trim() ?? '';
  return line === '' ? 'it was closed by its operator.' : line.slice(0, longestReason);
}
/** A turn at the runtime. It is given back exactly once, whatever became of the request. */
interface Turn {
  readonly giveBack: () => void;
}

/** How many are at the runtime, and how many wait. */
interface TurnCounts {
  readonly running: number;
  readonly waiting: number;
}

/** Turns at one runtime, in the order in which they were asked for. */
interface Turns {
  /** A turn; undefined when too many wait already, or when `signal` was aborted before it came. */
  readonly take: (signal: AbortSignal) => Promise<Turn | undefined>;
  readonly counts: () => TurnCounts;
}

interface Waiting {
  readonly start: (turn: Turn) => void;
}

/** Turns for `most` requests at once, while up to `mostWaiting` others wait. */
export function makeTurns(most: number, mostWaiting: number): Turns {
  let running = 0;
  const waiting: Waiting[] = [];

  function newTurn(): Turn {
    running += 1;
    let isGiven = false;
    return {
      giveBack: () => {
        if (isGiven) return;
        isGiven = true;
        running -= 1;
        const next = waiting.shift();
        if (next !== undefined) next.start(newTurn());
      },
    };
  }

  function wait(signal: AbortSignal): Promise<Turn | undefined> {
    return new Promise((resolve) => {
      const leave = (): void => {
        waiting.splice(waiting.indexOf(one), 1);
        resolve(undefined);
      };
      const one: Waiting = {
        start: (turn) => {
          signal.removeEventListener('abort', leave);
          resolve(turn);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      waiting.push(one);
    });
  }

  return {
    take: async (signal) => {
      if (signal.aborted) return undefined;
      if (running < most) return newTurn();
      return waiting.length < mostWaiting ? wait(signal) : undefined;
    },
    counts: () => ({ running, waiting: waiting.length }),
  };
}
/** Requests of the node itself that a runtime has now. They are no traffic, and no drain waits for them. */
interface OwnRequests {
  /** Notes one more; the function that comes back ends it. */
  readonly begin: () => () => void;
  readonly count: () => number;
  /** How long the oldest one is there; undefined where there is none. */
  readonly oldestMs: () => number | undefined;
}

/** None yet, by a clock that never goes back. */
export function makeOwnRequests(now: () => number): OwnRequests {
  const begun = new Set<{ readonly atMs: number }>();
  return {
    begin: () => {
      const one = { atMs: now() };
      begun.add(one);
      return () => void begun.delete(one);
    },
    count: () => begun.size,
    oldestMs: () => (begun.size === 0 ? undefined : Math.round(now() - Math.min(...[...begun].map((one) => one.atMs)))),
  };
}

/** Hashes of keys, 32 bytes each, or that none is needed. */
type DoorKeys = readonly Buffer[] | 'anybody';

/** The keys of a key file; none at all where it is missing or no such file: then the door stays shut. */
export function parseKeys(sight: FileSight): DoorKeys {
  if (sight.kind !== 'text') return [];
  const keys = keysField(sight.text);
  if (keys === 'anybody') return keys;
  if (!Array.isArray(keys)) return [];
  const hashes = keys.filter((one) => typeof one === 'string' && /^[0-9a-f]{64}$/.test(one));
  return hashes.map((one) => Buffer.from(one, 'hex'));
}

function keysField(text: string): unknown {
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === 'object' && document !== null && 'keys' in document ? document.keys : undefined;
  } catch {
    return undefined;
  }
}

/** The key that a request brings, by either of the two headers that clients use; undefined without one. */
export function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  const other = headers['x-api-key'];
  return bearer ?? (typeof other === 'string' && other !== '' ? other : undefined);
}

/** What is compared of a key; undefined of none. */
export const hashOfKey = (key: string | undefined): Buffer | undefined =>
  key === undefined ? undefined : createHash('sha256').update(doormanKeyDomain).update(key).digest();

/**
 * Whether a key opens a door. How long it takes does not tell how much of a key was right, nor which of several it is
 * like: it is compared with all of them.
 */
export function isOpenedBy(hash: Buffer | undefined, keys: DoorKeys): boolean {
  if (keys === 'anybody') return true;
  return hash !== undefined && keys.map((one) => timingSafeEqual(one, hash)).includes(true);
}

/** What became of a file: its text, that there is none, or that it cannot be read. */
type FileSight =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable' };

/**
 * A reader that gives the value of a file and reads it again only when it has changed. One look costs one `stat`, so
 * that a new key counts from the next request on.
 *
 * @param read makes the value; called once for each content
 */
export function watchedFile<T>(path: string, read: (sight: FileSight) => T): () => Promise<T> {
  let seen: { readonly mark: string; readonly value: T } | undefined;
  return async () => {
    const mark = await markOf(path);
    if (seen?.mark === mark) return seen.value;
    const value = read(mark === 'absent' ? { kind: 'absent' } : await sightOf(path));
    seen = { mark, value };
    return value;
  };
}

async function markOf(path: string): Promise<string> {
  try {
    // Whoever puts a file renames a new one into its place.
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch (error) {
    return isAbsence(error) ? 'absent' : 'unreadable';
  }
}

async function sightOf(path: string): Promise<FileSight> {
  try {
    return { kind: 'text', text: await readFile(path, 'utf8') };
  } catch (error) {
    return { kind: isAbsence(error) ? 'absent' : 'unreadable' };
  }
}

const isAbsence = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');

/** The counts of all placements of a doorman, by name. */
type AllCounts = ReadonlyMap<string, DoormanCounts>;

/** Nothing counted yet, from this moment on. */
export const countsFrom = (sinceEpochSeconds: number): DoormanCounts => ({
  sinceEpochSeconds,
  requests: 0,
  failed: 0,
  refused: 0,
  tokens: 0,
  firstToken: { count: 0, totalMs: 0, lastMs: 0 },
  generating: { tokens: 0, totalMs: 0, lastPerSecond: 0 },
});

/** One answer that came to its end. */
interface AnswerTimes {
  readonly tokens: number;
  /** Of a stream: from the arrival of the request to its first text. */
  readonly firstTokenMs?: number;
  /** Of a stream: from its first text to its end. */
  readonly generatingMs?: number;
}

/** The counts with one more answer. */
export function withAnswer(counts: DoormanCounts, { tokens, firstTokenMs, generatingMs }: AnswerTimes): DoormanCounts {
  const { firstToken, generating } = counts;
  // The first token came before the clock of the others began.
  const later = Math.max(0, tokens - 1);
  const isTimed = generatingMs !== undefined && generatingMs > 0 && later > 0;
  return {
    ...counts,
    requests: counts.requests + 1,
    tokens: counts.tokens + tokens,
    firstToken:
      firstTokenMs === undefined
        ? firstToken
        : { count: firstToken.count + 1, totalMs: firstToken.totalMs + firstTokenMs, lastMs: firstTokenMs },
    generating: isTimed
      ? {
          tokens: generating.tokens + later,
          totalMs: generating.totalMs + generatingMs,
          lastPerSecond: (later * 1_000) / generatingMs,
        }
      : generating,
  };
}

/** What an earlier run of the doorman has counted; nothing when its file is gone or not whole. */
export function readCounts(path: string): AllCounts {
  try {
    const document: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof document !== 'object' || document === null) return new Map();
    return new Map(Object.entries(document).map(([name, value]) => [name, countsOf(value)]));
  } catch {
    return new Map();
  }
}

const partOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;

const numberAt = (value: unknown, name: string): number => {
  const found = partOf(value, name);
  return typeof found === 'number' && Number.isFinite(found) && found > 0 ? found : 0;
};

function countsOf(value: unknown): DoormanCounts {
  const [firstToken, generating] = [partOf(value, 'firstToken'), partOf(value, 'generating')];
  const since = numberAt(value, 'sinceEpochSeconds');
  return {
    ...(since === 0 ? {} : { sinceEpochSeconds: since }),
    requests: numberAt(value, 'requests'),
    failed: numberAt(value, 'failed'),
    refused: numberAt(value, 'refused'),
    tokens: numberAt(value, 'tokens'),
    firstToken: {
      count: numberAt(firstToken, 'count'),
      totalMs: numberAt(firstToken, 'totalMs'),
      lastMs: numberAt(firstToken, 'lastMs'),
    },
    generating: {
      tokens: numberAt(generating, 'tokens'),
      totalMs: numberAt(generating, 'totalMs'),
      lastPerSecond: numberAt(generating, 'lastPerSecond'),
    },
  };
}

/** Keeps the counts for the next run; a reader sees the old file or the new one. */
export async function writeCounts(path: string, counts: AllCounts): Promise<void> {
  const made = `${path}.new`;
  await writeFile(made, `${JSON.stringify(Object.fromEntries(counts))}\n`);
  await rename(made, path);
}
