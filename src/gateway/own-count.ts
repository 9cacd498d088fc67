/** The node's own requests in flight at a runtime. They do not count as traffic, and `drain` does not wait for them. */
export interface OwnRequests {
  /** Adds a request; the returned function removes it. */
  readonly begin: () => () => void;
  readonly count: () => number;
  /** The age of the oldest request; undefined without any. */
  readonly oldestMs: () => number | undefined;
}

/** Counts from zero, with a clock that never goes back. */
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
