import type { Digest } from './digest.ts';

/**
 * What an answer to the same question must be after every start: `equal` to that of the first start, `printable` text of
 * any kind, or `none`: nobody knows, and only its speed is measured.
 */
export type GoldenCheck = 'equal' | 'printable' | 'none';

/** What the leader of a placement keeps of the answer to the golden question. */
export interface GoldenRecord {
  /** Of everything that makes equal answers: the placement as the file has it, and the builds of macOS under it. */
  readonly key: Digest;
  /** Of the text of the answer; of the first start with this key. */
  readonly sha256: Digest;
  /** Of the last start: how long one token takes once everything is loaded… */
  readonly firstTokenMs: number;
  /** …and how fast the others follow; absent where the endpoint does not count its tokens. */
  readonly tokensPerSecond?: number;
  /** The most that any start under this key gave, of those whose answer was long enough to compare others with. */
  readonly steadyPerSecond?: number;
}
