import type { Digest } from './digest.ts';
import type { NodeName } from './node.ts';

/** What the golden answer must be: `equal` to the first start's, any `printable` text, or `none` (speed only). */
export type GoldenCheck = 'equal' | 'printable' | 'none';

/** The leader's record of the golden answer. */
export interface GoldenRecord {
  /** Digest of everything that determines the answer: the declared placement and the macOS builds. */
  readonly key: Digest;
  /** Digest of the first answer with this key. */
  readonly sha256: Digest;
  /** How long one token took after the last start, once everything was loaded. */
  readonly firstTokenMs: number;
  /** Speed of the remaining tokens; absent if the endpoint does not count its tokens. */
  readonly tokensPerSecond?: number;
  /** The highest speed stored under this key, among answers that are long enough to compare. */
  readonly steadyPerSecond?: number;
}

/** The placement that exo creates from joined ranks. */
export interface ExoPlacement {
  /** Nodes in rank order. */
  readonly nodes: readonly NodeName[];
  /** TCP port of exo's HTTP API, the same on all nodes. */
  readonly port: number;
  /** The model's ID with its organization: `mlx-community/Kimi-K2-Thinking`. */
  readonly modelId: string;
  readonly sharding: 'Tensor' | 'Pipeline';
  readonly meta: 'MlxJaccl' | 'MlxRing';
  /** The maximum weights per node, in bytes. */
  readonly bytesPerNode: number;
  /** Over TCP: for each cabled pair of nodes and direction, the cable addresses of `to`. */
  readonly cables?: readonly {
    readonly from: NodeName;
    readonly to: NodeName;
    readonly addresses: readonly string[];
  }[];
}

/** The exo API that receives the request for a graceful shutdown. */
export interface ExoGracefulShutdown {
  readonly node: NodeName;
  /** TCP port of exo's HTTP API. */
  readonly port: number;
}

/** The dialogue that creates a placement from joined ranks. */
export interface StartDialogue {
  readonly name: 'exo-place';
  readonly args: ExoPlacement;
}

/** The graceful shutdown before a stop; the stop follows whatever the result. */
export interface StopDialogue {
  readonly name: 'exo-graceful-shutdown';
  readonly args: ExoGracefulShutdown;
}

/** A dialogue with a placement's endpoint: the dialogue's registered name and its arguments. */
export type DialogueCall = StartDialogue | StopDialogue;
