/** Requests of the node itself that a runtime has now. They are no traffic, and no drain waits for them. */
export interface OwnRequests {
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
