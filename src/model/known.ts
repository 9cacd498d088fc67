/** Why a fact is unknown. Unknown never means *no*: the fact could not be observed, or the answer is not credible. */
export type UnknownReason =
  | 'tool-missing' // the node has no such command (exit 127): an older macOS, or a stripped one
  | 'no-privilege' // this user may not read it
  | 'timed-out' // the probe's own deadline passed and it was killed
  | 'failed' // the tool ran and exited with an unknown error
  | 'empty' // exit 0 without any output
  | 'garbled' // an answer that no known macOS prints
  | 'truncated' // the answer was longer than the probe allows, or the connection ended inside it
  | 'busy' // not asked on purpose: asking would disturb a starting rank, or hang behind a hung program
  | 'not-asked' // the observation ended before this probe was asked
  | 'unreachable'; // the node itself could not be observed

/** An observed value, or the reason why it is unknown. */
export type Known<T> =
  | { readonly kind: 'known'; readonly value: T }
  | { readonly kind: 'unknown'; readonly reason: UnknownReason; readonly detail: string };

export const known = <T>(value: T): Known<T> => ({ kind: 'known', value });

/** An unknown fact. `detail` is one sentence, without user data other than the node's output (escaped later). */
export const unknown = (reason: UnknownReason, detail: string): Known<never> => ({ kind: 'unknown', reason, detail });

export const seenValue = <T>(seen: Known<T> | undefined): T | undefined =>
  seen?.kind === 'known' ? seen.value : undefined;

/** Maps the value; unknown stays unknown. */
export const mapKnown = <T, U>(seen: Known<T>, follow: (value: T) => U): Known<U> =>
  seen.kind === 'known' ? known(follow(seen.value)) : seen;

/** All values, or the first unknown. */
export const allKnown = <T>(seen: readonly Known<T>[]): Known<readonly T[]> =>
  seen.find((one) => one.kind === 'unknown') ?? known(seen.flatMap((one) => (one.kind === 'known' ? [one.value] : [])));

/** Like `mapKnown` for results that may be unknown. */
export const andThen = <T, U>(seen: Known<T>, follow: (value: T) => Known<U>): Known<U> =>
  seen.kind === 'known' ? follow(seen.value) : seen;
