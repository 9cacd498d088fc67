import type { NodeName } from './node.ts';

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
