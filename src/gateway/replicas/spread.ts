import { withAnySignal } from '../any-signal.ts';
import type { Turn, Turns } from './turns.ts';

/** Why a request got no response; `reason` is for the client, and `leaving` means that this gateway is restarting. */
export interface Miss {
  readonly kind: 'closed' | 'full' | 'down' | 'leaving' | 'gone';
  readonly reason: string;
}

/** A replica that can handle a request. */
export interface Lane {
  /** The replica's placement. */
  readonly name: string;
  readonly turns: Turns;
  /** The number of requests that the replica handles in parallel. */
  readonly most: number;
  readonly isReady: boolean;
  readonly take: (signal: AbortSignal) => Promise<Turn | Miss>;
  /** Forwards the request; undefined if a response started, whether or not it was completed. */
  readonly pass: () => Promise<Miss | undefined>;
}

const isMiss = (one: Turn | Miss): one is Miss => 'kind' in one;

/** Forwards a request to one replica when the request's turn comes. */
export async function passToLane(lane: Lane, signal: AbortSignal): Promise<Miss | undefined> {
  const turn = await lane.take(signal);
  return isMiss(turn) ? turn : passInTurn(lane, turn);
}

async function passInTurn(lane: Lane, turn: Turn): Promise<Miss | undefined> {
  try {
    return await lane.pass();
  } finally {
    turn.giveBack();
  }
}

/**
 * Forwards a request to the replica with the fewest requests; if no response starts, tries the next one. If all
 * replicas are busy, the first one that becomes free gets the request. Replicas that are not ready are tried last.
 *
 * @param lanes this node's replica comes first; it wins ties, because it needs no other Mac
 */
export async function spread(lanes: readonly Lane[], signal: AbortSignal): Promise<Miss | undefined> {
  const misses: (readonly [name: string, miss: Miss])[] = [];
  const left = new Set(lanes);
  while (left.size > 0) {
    const ready = [...left].filter(({ isReady }) => isReady);
    const taken = await takeAny(ready.length > 0 ? ready : [...left], signal);
    const missed = 'misses' in taken ? taken.misses : await passTaken(taken);
    const end = missed.find(([, { kind }]) => kind === 'gone' || kind === 'leaving');
    if (missed.length === 0 || end !== undefined) return end?.[1];
    for (const [lane, miss] of missed) {
      misses.push([lane.name, miss]);
      left.delete(lane);
    }
  }
  return together(misses, lanes[0]?.name);
}

/** The lanes that did not handle the request, each with the reason. */
type Missed = readonly (readonly [lane: Lane, miss: Miss])[];

type Taken = { readonly lane: Lane; readonly turn: Turn } | { readonly misses: Missed };

async function passTaken({ lane, turn }: Exclude<Taken, { misses: Missed }>): Promise<Missed> {
  const miss = await passInTurn(lane, turn);
  return miss === undefined ? [] : [[lane, miss]];
}

/** Counts the requests that have chosen a lane but have no turn yet, which spreads out parallel requests. */
const choosing = new WeakMap<Turns, number>();

const shareOf = ({ turns, most }: Lane): number => (turns.counts().running + (choosing.get(turns) ?? 0)) / most;

/** Takes a turn in the lane with the fewest requests or, if all lanes are busy, in the first lane that becomes free. */
async function takeAny(lanes: readonly Lane[], signal: AbortSignal): Promise<Taken> {
  const [best] = lanes.filter((one) => shareOf(one) < 1).sort((a, b) => shareOf(a) - shareOf(b));
  if (best === undefined) return raceFor(lanes, signal);
  choosing.set(best.turns, (choosing.get(best.turns) ?? 0) + 1);
  const turn = await best.take(signal);
  choosing.set(best.turns, (choosing.get(best.turns) ?? 1) - 1);
  return isMiss(turn) ? { misses: [[best, turn]] } : { lane: best, turn };
}

/** Waits in the queue of every lane. When the first turn comes, leaves all other queues. */
function raceFor(lanes: readonly Lane[], signal: AbortSignal): Promise<Taken> {
  return new Promise((resolve) => {
    const over = new AbortController();
    const misses: [Lane, Miss][] = [];
    let isOver = false;
    for (const lane of lanes) {
      void withAnySignal([signal, over.signal], lane.take).then((turn) => {
        if (isMiss(turn)) {
          misses.push([lane, turn]);
          if (!isOver && misses.length === lanes.length) resolve({ misses });
        } else if (isOver) turn.giveBack();
        else {
          isOver = true;
          over.abort();
          resolve({ lane, turn });
        }
      });
    }
  });
}

/** Combines the misses into one for the client: all replicas are closed, at least one is full, or none responds. */
function together(misses: readonly (readonly [name: string, miss: Miss])[], own: string | undefined): Miss | undefined {
  const all = misses.map(([, miss]) => miss);
  if (all.every(({ kind }) => kind === 'closed')) return misses.find(([name]) => name === own)?.[1];
  const full = all.find(({ kind }) => kind === 'full');
  if (full !== undefined) return full;
  const reasons = misses.map(([name, { reason }]) => `${name}: ${reason.replace(/\.$/, '')}`);
  return { kind: 'down', reason: `no replica answers: ${reasons.join('; ')}.` };
}
