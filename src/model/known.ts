/**
 * Why a fact is unknown. Unknown is never *no*: each of these means that nobody could look, or that the answer
 * could not be believed.
 */
export type UnknownReason =
  | 'tool-missing' // the node has no such command (exit 127): an older macOS, or a stripped one
  | 'no-privilege' // this user may not read it
  | 'timed-out' // the probe's own deadline passed and it was killed
  | 'failed' // the tool ran and ended with an error we do not know
  | 'empty' // exit 0 without any output
  | 'garbled' // an answer that no known macOS prints
  | 'truncated' // the answer was longer than the probe allows, or the connection ended inside it
  | 'busy' // left alone on purpose: asking would disturb a rank that is starting, or hang behind a program that has not returned
  | 'not-asked' // the observation ended before this probe was asked
  | 'unreachable'; // the node itself could not be observed

/** A value that was seen, or the reason why it was not. */
export type Known<T> =
  | { readonly kind: 'known'; readonly value: T }
  | { readonly kind: 'unknown'; readonly reason: UnknownReason; readonly detail: string };

/** A fact that was seen. */
export const known = <T>(value: T): Known<T> => ({ kind: 'known', value });

/** A fact that was not seen. `detail` is one sentence without user data beyond what the node printed (escaped later). */
export const unknown = (reason: UnknownReason, detail: string): Known<never> => ({ kind: 'unknown', reason, detail });

/** The value, where there is one. */
export const seenValue = <T>(seen: Known<T> | undefined): T | undefined =>
  seen?.kind === 'known' ? seen.value : undefined;

/** What follows from the value; what is unknown stays so. */
export const mapKnown = <T, U>(seen: Known<T>, follow: (value: T) => U): Known<U> =>
  seen.kind === 'known' ? known(follow(seen.value)) : seen;

/** Like `mapKnown`, where what follows may be unknown itself. */
export const andThen = <T, U>(seen: Known<T>, follow: (value: T) => Known<U>): Known<U> =>
  seen.kind === 'known' ? follow(seen.value) : seen;
