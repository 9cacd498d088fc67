/** A turn at the runtime. It is returned exactly once, whatever the result of the request. */
export interface Turn {
  readonly giveBack: () => void;
}

/** The number of requests at the runtime, and of those that wait. */
export interface TurnCounts {
  readonly running: number;
  readonly waiting: number;
}

/** Turns at one runtime, in the order of the requests. */
export interface Turns {
  /** A turn; undefined if too many requests already wait, or if `signal` is aborted first. */
  readonly take: (signal: AbortSignal) => Promise<Turn | undefined>;
  readonly counts: () => TurnCounts;
}

interface Waiting {
  readonly start: (turn: Turn) => void;
}

/** Turns for `most` requests in parallel, while up to `mostWaiting` others wait. */
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
