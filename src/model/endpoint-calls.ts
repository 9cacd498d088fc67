import type { Digest } from './digest.ts';
import type { NodeName } from './node.ts';

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

/** What exo is to make of ranks that have joined. */
export interface ExoPlacement {
  /** In rank order. */
  readonly nodes: readonly NodeName[];
  /** TCP port of exo's HTTP API, the same on all of them. */
  readonly port: number;
  /** Whole, with its organization: `mlx-community/Kimi-K2-Thinking`. */
  readonly modelId: string;
  readonly sharding: 'Tensor' | 'Pipeline';
  readonly meta: 'MlxJaccl' | 'MlxRing';
  /** Weights that one node loads at most. */
  readonly bytesPerNode: number;
  /** Over TCP: for each way between two nodes with a cable, the addresses of `to` on it. */
  readonly cables?: readonly {
    readonly from: NodeName;
    readonly to: NodeName;
    readonly addresses: readonly string[];
  }[];
}

/** Whose exo is asked to end what it has placed. */
export interface ExoFarewell {
  readonly node: NodeName;
  /** TCP port of exo's HTTP API. */
  readonly port: number;
}

/** A conversation that makes a placement out of ranks that have joined. */
export interface StartDialogue {
  readonly name: 'exo-place';
  readonly args: ExoPlacement;
}

/** A conversation before the ranks of a placement are stopped; they are stopped whatever comes of it. */
export interface StopDialogue {
  readonly name: 'exo-farewell';
  readonly args: ExoFarewell;
}

/** A conversation with the endpoint of a placement, by its name in the registry, with its arguments. */
export type DialogueCall = StartDialogue | StopDialogue;
