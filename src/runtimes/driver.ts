import type { DesiredPlacement, DesiredRuntime } from '../model/desired.ts';
import type { Json } from '../model/json.ts';
import type { NodeName } from '../model/node.ts';
import type { NodePath } from '../model/node-path.ts';
import type { Text } from '../model/step.ts';

/** One rank of a placement, with everything that its command line may name. */
export interface RankPlace {
  readonly placement: DesiredPlacement;
  readonly runtime: DesiredRuntime;
  readonly node: NodeName;
  readonly rank: number;
  readonly generation: number;
  /** TCP port on which the ranks of this generation meet. */
  readonly port: number;
  /** Addresses of all ranks, in rank order. */
  readonly addresses: readonly string[];
  /** Folders of this very version of the runtime, and of the model. */
  readonly runtimeFolder: NodePath;
  readonly modelFolder: NodePath;
}

/** How one rank is started and seen to have joined. */
export interface RankCommand {
  /** Word by word; no shell reads it. */
  readonly argv: readonly Text[];
  readonly env: Readonly<Record<string, string>>;
  /** TCP port on which a rank that has joined listens. */
  readonly joinedPort: number;
}

/** A request that makes the endpoint give one token. */
export interface TokenRequest {
  /** From the root. */
  readonly path: string;
  readonly body: Json;
  /** JSON pointer of the text in the answer. */
  readonly pointer: string;
}

/** The part of starting and judging a placement that differs from runtime to runtime. Pure. */
export interface RuntimeDriver {
  readonly id: DesiredRuntime['driver'];
  readonly configure: (place: RankPlace) => RankCommand;
  readonly tokenRequest: (placement: DesiredPlacement, runtime: DesiredRuntime) => TokenRequest;
  /** Which members are started first. */
  readonly startOrder: (runtime: DesiredRuntime) => StartOrder;
  /** Whether a dead member may be started again beside those that run, in their generation. */
  readonly canRestartOne: (runtime: DesiredRuntime) => boolean;
}

/** Which members are started first; the others wait until those have joined. */
export type StartOrder = 'leader-first' | 'followers-first' | 'together';
