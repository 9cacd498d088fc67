import { spawn } from 'node:child_process';
import type { LookupAddress } from 'node:dns';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** The child's program: a name per line in, a JSON answer per line out. A normal exit would wait for lookups. */
const program = `const { lookup } = require('node:dns');
const lines = require('node:readline').createInterface({ input: process.stdin });
const say = (answer) => process.stdout.write(JSON.stringify(answer) + '\\n');
lines.on('line', (host) =>
  lookup(host, { all: true }, (error, addresses) =>
    say(error ? { host, code: String(error.code), message: error.message } : { host, addresses })));
lines.on('close', () => process.kill(process.pid, 'SIGKILL'));`;

/** Thread pool size of the child, at its maximum. Node looks up half as many names in parallel. */
const threads = 1_024;

type Answer =
  | { readonly host: string; readonly addresses: readonly LookupAddress[] }
  | { readonly host: string; readonly code: string; readonly message: string };

/** Starts a child process that looks up 512 names in parallel. This process does not wait for the child at exit. */
export function openSpareLookUp(): SpareLookUp {
  const { NODE_OPTIONS: _options, ...env } = process.env;
  const child = spawn(process.execPath, ['-e', program], {
    env: { ...env, UV_THREADPOOL_SIZE: String(threads) },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.unref();
  for (const stream of [child.stdin, child.stdout]) if (stream instanceof Socket) stream.unref();
  const waiting = new Map<string, Settle>();
  let isGone = false;
  const lose = (): void => {
    isGone = true;
    const lost = [...waiting.values()];
    waiting.clear();
    for (const one of lost) one.lost();
  };
  child.on('error', lose).on('close', lose);
  child.stdin.on('error', () => undefined);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line) as Answer;
    const settle = waiting.get(answer.host);
    waiting.delete(answer.host);
    if ('addresses' in answer) settle?.found(answer.addresses);
    else settle?.failed(Object.assign(new Error(answer.message), { code: answer.code }));
  });
  return {
    ask: (host, settle) => {
      if (isGone) return queueMicrotask(settle.lost);
      waiting.set(host, settle);
      child.stdin.write(`${host}\n`);
    },
    close: () => {
      waiting.clear();
      child.kill('SIGKILL');
    },
  };
}

/** Finds a name's addresses, in the order in which to try them. Rejects like `dns.lookup`. */
export type LookUp = (host: string) => Promise<readonly LookupAddress[]>;

/** A second resolver with enough capacity for all names. It starts when the first resolver is full. */
interface SpareLookUp {
  /** Looks up a name the way the first resolver does; calls `lost` if no answer can arrive anymore. */
  readonly ask: (host: string, settle: Settle) => void;
  /** Stops the resolver; pending names remain unanswered. */
  readonly close: () => void;
}

/** Callbacks for the result of one name in the spare resolver. */
export interface Settle {
  readonly found: (addresses: readonly LookupAddress[]) => void;
  readonly failed: (error: Error) => void;
  readonly lost: () => void;
}

interface LookUpPlaces {
  readonly lookUp: LookUp;
  /** Number of lookups that the first resolver runs in parallel. It never gets more. */
  readonly places: number;
  /** Milliseconds that a name waits for the first resolver before the spare one starts. */
  readonly patienceMs: number;
  readonly openSpare: () => SpareLookUp;
}

interface Entry {
  readonly host: string;
  readonly settle: Settle;
  isRunning: boolean;
  isSpare: boolean;
}

interface Desk {
  readonly at: LookUpPlaces;
  readonly entries: Set<Entry>;
  running: number;
  spare: SpareLookUp | undefined;
  timer: NodeJS.Timeout | undefined;
}

const waitingOf = ({ entries }: Desk): readonly Entry[] =>
  [...entries].filter((entry) => !entry.isRunning && !entry.isSpare);

/**
 * Looks up names in such a way that a name without an answer does not block others. Node runs only two system lookups
 * in parallel, and the system may spend 30 seconds on a dead name. Each name has at most one lookup at a time.
 */
export function createLookUp(at: LookUpPlaces): LookUp {
  const desk: Desk = { at, entries: new Set(), running: 0, spare: undefined, timer: undefined };
  const asked = new Map<string, Promise<readonly LookupAddress[]>>();
  return (host) => {
    const known = asked.get(host) ?? add(desk, host, () => asked.delete(host));
    asked.set(host, known);
    return known;
  };
}

function add(desk: Desk, host: string, forget: () => void): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    // The slower resolver may still answer when the name is already settled or is being looked up again.
    const once = (act: () => void): void => {
      if (!desk.entries.delete(entry)) return;
      forget();
      act();
      advance(desk);
    };
    const lost = (): void => {
      desk.spare = undefined;
      entry.isSpare = false;
      advance(desk);
    };
    const found = (addresses: readonly LookupAddress[]): void => once(() => resolve(addresses));
    const failed = (error: Error): void => once(() => reject(error));
    const entry: Entry = { host, settle: { found, failed, lost }, isRunning: false, isSpare: false };
    desk.entries.add(entry);
    advance(desk);
  });
}

/** Fills the first resolver; the spare one starts if names wait for too long. Without work, both stop. */
function advance(desk: Desk): void {
  const free = Math.max(0, desk.at.places - desk.running);
  for (const entry of waitingOf(desk).slice(0, free)) run(desk, entry);
  if (waitingOf(desk).length > 0) {
    desk.timer ??= setTimeout(() => handOver(desk), desk.spare === undefined ? desk.at.patienceMs : 0);
  }
  if (desk.entries.size > 0) return;
  clearTimeout(desk.timer);
  desk.timer = undefined;
  desk.spare?.close();
  desk.spare = undefined;
}

function run(desk: Desk, entry: Entry): void {
  entry.isRunning = true;
  desk.running += 1;
  const { found, failed } = entry.settle;
  void desk.at
    .lookUp(entry.host)
    .then(found, failed)
    .then(() => {
      desk.running -= 1;
      advance(desk);
    });
}

/** Passes all unanswered names to the spare resolver, including those that the first resolver is still working on. */
function handOver(desk: Desk): void {
  desk.timer = undefined;
  if (waitingOf(desk).length === 0) return;
  desk.spare ??= desk.at.openSpare();
  for (const entry of desk.entries) {
    if (entry.isSpare) continue;
    entry.isSpare = true;
    desk.spare.ask(entry.host, entry.settle);
  }
}
