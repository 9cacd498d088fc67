/** Memory for the bodies of requests. */
export interface BodyRoom {
  /**
   * Waits for so many bytes, in the order in which they are asked for. Gives the function that returns them, to be
   * called once; undefined when `signal` is aborted before.
   */
  readonly take: (bytes: number, signal: AbortSignal) => Promise<(() => void) | undefined>;
}

interface Waiting {
  readonly bytes: number;
  readonly start: () => void;
}

/** Room for `mostBytes` in all. No one asks for more. */
export function makeBodyRoom(mostBytes: number): BodyRoom {
  let used = 0;
  const waiting: Waiting[] = [];

  function startNext(): void {
    for (let [next] = waiting; next !== undefined && used + next.bytes <= mostBytes; [next] = waiting) {
      waiting.shift();
      used += next.bytes;
      next.start();
    }
  }
  return {
    take: (bytes, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(undefined);
        const leave = (): void => {
          waiting.splice(waiting.indexOf(one), 1);
          resolve(undefined);
          startNext();
        };
        const giveBack = (): void => {
          used -= bytes;
          startNext();
        };
        const one: Waiting = {
          bytes,
          start: () => {
            signal.removeEventListener('abort', leave);
            resolve(giveBack);
          },
        };
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(one);
        startNext();
      }),
  };
}
