import { waitInLine } from '../wait-in-line.ts';

/** A turn at the runtime. It is returned exactly once, however the request ends. */
export interface Turn {
  readonly giveBack: () => void;
}

/** Turns at one runtime, in the order in which requests arrive. */
export interface Turns {
  /** A turn; undefined if too many requests are already waiting, or if `signal` is aborted first. */
  readonly take: (signal: AbortSignal) => Promise<Turn | undefined>;
  /** How many requests are at the runtime, and how many are waiting. */
  readonly counts: () => { readonly running: number; readonly waiting: number };
}

/** Turns for `most` requests in parallel, while up to `mostWaiting` others wait. */
export function makeTurns(most: number, mostWaiting: number): Turns {
  let running = 0;
  const waiting: ((turn: Turn) => void)[] = [];

  function newTurn(): Turn {
    running += 1;
    let isGiven = false;
    return {
      giveBack: () => {
        if (isGiven) return;
        isGiven = true;
        running -= 1;
        waiting.shift()?.(newTurn());
      },
    };
  }

  return {
    take: async (signal) => {
      if (signal.aborted) return undefined;
      if (running < most) return newTurn();
      return waiting.length < mostWaiting ? waitInLine(waiting, signal, (start) => start) : undefined;
    },
    counts: () => ({ running, waiting: waiting.length }),
  };
}
