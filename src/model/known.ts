/** Why a fact is unknown. Unknown never means *no*: the fact could not be observed, or the answer was not credible. */
export type UnknownReason =
  | 'tool-missing' // the node has no such command (exit 127): an older macOS, or a stripped one
  | 'no-privilege' // the user is not allowed to read it
  | 'timed-out' // the probe was killed at its deadline
  | 'failed' // the tool ran and exited with an unknown error
  | 'empty' // exit 0 without any output
  | 'garbled' // an answer that no known macOS prints
  | 'truncated' // the answer was too long for the probe, or the connection broke before its end
  | 'busy' // skipped on purpose: the query would disturb a starting rank, or hang behind a hung program
  | 'not-asked' // the observation ended before this probe ran
  | 'unreachable'; // the node itself could not be observed

/** An observed value, or the reason why it is unknown. */
export type Known<T> =
  | { readonly kind: 'known'; readonly value: T }
  | { readonly kind: 'unknown'; readonly reason: UnknownReason; readonly detail: string };

export const known = <T>(value: T): Known<T> => ({ kind: 'known', value });

/** An unknown fact. `detail` is one sentence whose only user data is the node's output, which is escaped later. */
export const unknown = (reason: UnknownReason, detail: string): Known<never> => ({ kind: 'unknown', reason, detail });

export const seenValue = <T>(seen: Known<T> | undefined): T | undefined =>
  seen?.kind === 'known' ? seen.value : undefined;

/** Maps a known value; an unknown value is returned unchanged. */
export const mapKnown = <T, U>(seen: Known<T>, follow: (value: T) => U): Known<U> =>
  seen.kind === 'known' ? known(follow(seen.value)) : seen;

/** Returns all values, or the first unknown among them. */
export const allKnown = <T>(seen: readonly Known<T>[]): Known<readonly T[]> =>
  seen.find((one) => one.kind === 'unknown') ?? known(seen.flatMap((one) => (one.kind === 'known' ? [one.value] : [])));

/** Like `mapKnown`, for functions whose result can be unknown. */
export const andThen = <T, U>(seen: Known<T>, follow: (value: T) => Known<U>): Known<U> =>
  seen.kind === 'known' ? follow(seen.value) : seen;
