/**
 * Tracks the node's own requests at a runtime, or in line for it. These requests do not count as traffic, and `drain` does not
 * wait for them.
 * @param now a monotonic clock
 */
export function makeOwnRequests(now: () => number) {
  const begun = new Set<{ readonly atMs: number }>();
  return {
    /** Adds a request; the returned function removes it. */
    begin: (): (() => void) => {
      const one = { atMs: now() };
      begun.add(one);
      return () => void begun.delete(one);
    },
    count: (): number => begun.size,
    /** The age of the oldest request; undefined if there is none. */
    oldestMs: () => (begun.size === 0 ? undefined : Math.round(now() - Math.min(...[...begun].map((one) => one.atMs)))),
  };
}
