/** Lets one thing happen after the other. */
export type TakeTurn = <T>(act: () => Promise<T>) => Promise<T>;

/** A queue of its own: each act begins when the one before it has ended, however that ended. */
export function createTurns(): TakeTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const mine = last.then(act, act);
    last = mine;
    return mine;
  };
}
