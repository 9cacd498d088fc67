import { spawn } from 'node:child_process';
import type { LookupAddress } from 'node:dns';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';

/**
 * What the child runs: one name per line in, one line of JSON per answer out. When its parent is gone it ends itself
 * by KILL, since an ordinary exit would wait for the system's answers.
 */
const program = `const { lookup } = require('node:dns');
const lines = require('node:readline').createInterface({ input: process.stdin });
const say = (answer) => process.stdout.write(JSON.stringify(answer) + '\\n');
lines.on('line', (host) =>
  lookup(host, { all: true }, (error, addresses) =>
    say(error ? { host, code: String(error.code), message: error.message } : { host, addresses })));
lines.on('close', () => process.kill(process.pid, 'SIGKILL'));`;

/** Node looks up half as many names at once as its pool has threads; 1,024 is the most that it makes. */
const threads = 1_024;

type Answer =
  | { readonly host: string; readonly addresses: readonly LookupAddress[] }
  | { readonly host: string; readonly code: string; readonly message: string };

/** Starts one child process that looks up 512 names at once. It keeps nobody waiting: this process may end before it. */
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

/** Finds the addresses of a name, in the order in which they are to be tried. Rejects as `dns.lookup` does. */
export type LookUp = (host: string) => Promise<readonly LookupAddress[]>;

/** Another place for lookups, which takes as many as there are. Opened when the first one is full. */
interface SpareLookUp {
  /** Settles like the first place; `lost` is called instead when no answer will ever come. */
  readonly ask: (host: string, settle: Settle) => void;
  /** Ends it; what was not answered stays without an answer. */
  readonly close: () => void;
}

/** What becomes of one name in the spare place. */
export interface Settle {
  readonly found: (addresses: readonly LookupAddress[]) => void;
  readonly failed: (error: Error) => void;
  readonly lost: () => void;
}

/** Where names are looked up. */
interface LookUpPlaces {
  readonly lookUp: LookUp;
  /** How many lookups the first place really runs at once. More are never given to it. */
  readonly places: number;
  /** How long a name waits for a place before the spare one is opened. */
  readonly patienceMs: number;
  readonly openSpare: () => SpareLookUp;
}

interface Entry {
  readonly host: string;
  readonly settle: Settle;
  isRunning: boolean;
  isSpare: boolean;
}

/** The lookups of one run: what is asked, how much of it the first place does now, and the spare place while it is open. */
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
 * Looks names up so that one without an answer holds up no other. Node runs only two lookups of the system at once,
 * and the system may think about a dead name for half a minute. Each name is looked up once at a time.
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
    // The slower of two places may still answer when the name is long settled, and asked for anew.
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

/** Fills the first place; what still waits then gets the spare one, after a while; without any work both are left. */
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

/** Gives every unanswered name to the spare place, also those that the first place is still at. */
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
