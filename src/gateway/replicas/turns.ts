import { waitInLine } from '../wait-in-line.ts';

/** A request's turn at the runtime. Every turn is given back exactly once, no matter how the request ends. */
export interface Turn {
  readonly giveBack: () => void;
}

/** Gives requests their turns at one runtime, in the order in which the requests arrive. */
export interface Turns {
  /** Waits for a turn; undefined if too many requests are already waiting or if `signal` aborts first. */
  readonly take: (signal: AbortSignal) => Promise<Turn | undefined>;
  /** The number of requests that the runtime is processing, and the number waiting. */
  readonly counts: () => { readonly running: number; readonly waiting: number };
}

/** Lets up to `most` requests run in parallel while up to `mostWaiting` others wait. */
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
