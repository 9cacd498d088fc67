import type { DesiredNode, DesiredPlacement, DesiredWiredLimit, DriverName } from '../desired.ts';
import type { NodeName } from '../node.ts';
import type { ModelShape } from './model-shape.ts';

/** A placement, as far as memory goes. */
export interface FitPlacement
  extends Pick<
    DesiredPlacement,
    'name' | 'model' | 'runtime' | 'nodes' | 'sharding' | 'contextTokens' | 'parallel' | 'state' | 'lingersOn'
  > {
  /** Of the layers, for each rank; equal ones when absent. */
  readonly shares?: readonly number[];
  /** A driver is told by these what its cache is made of; nothing when absent. */
  readonly args?: DesiredPlacement['args'];
  readonly env?: DesiredPlacement['env'];
  /** Set where a gateway stands before it on its leader. */
  readonly publication?: unknown;
}

/** The part of a fleet that memory fit follows from. */
export interface FitFleet {
  readonly nodes: readonly Pick<DesiredNode, 'name' | 'hardware'>[];
  readonly runtimes: readonly { readonly name: string; readonly driver: DriverName }[];
  readonly models: readonly { readonly name: string; readonly shape?: ModelShape }[];
  readonly placements: readonly FitPlacement[];
  readonly system: { readonly wiredLimit?: DesiredWiredLimit };
}

/** How much memory the GPU of a node may use, and how that is known. */
export interface MemoryBudget {
  readonly bytes: number;
  /**
   * desired: the file sets it; seen: somebody has set it on the node; reported: macOS's own choice, as the log of a rank
   * has it; assumed: usual for its size, until somebody sees it.
   */
  readonly kind: 'desired' | 'seen' | 'reported' | 'assumed';
}

/** What one rank needs of the memory of its node, in bytes. */
export interface RankNeed {
  readonly weights: number;
  /** The cache of the context, of all requests at once. */
  readonly cache: number;
  readonly compute: number;
  readonly promptCache: number;
  /** Needed while it loads, and never at the same time as compute and caches. */
  readonly loading: number;
  /** Of the programs: the rank itself, and on the leader of a published placement the gateway. */
  readonly process: number;
  /** The most at any moment. */
  readonly total: number;
}

/**
 * How a node copes with all its placements: does-not-fit: more than its GPU may use; tight: more than nine tenths of
 * that; degraded, near-degraded: more than 70 % or 60 % of its memory, where meshes become slow.
 */
export type FitVerdict = 'fits' | 'near-degraded' | 'degraded' | 'tight' | 'does-not-fit';

/** One placement on one node. */
export interface PlacementShare {
  readonly placement: string;
  readonly rank: number;
  readonly need: RankNeed;
}

/** The memory of one node with all that is to serve on it. */
export interface NodeFit {
  readonly node: NodeName;
  /** Absent when nobody knows how much it has. */
  readonly memoryBytes?: number;
  readonly budget?: MemoryBudget;
  readonly shares: readonly PlacementShare[];
  /** Placements on it whose need nobody knows. */
  readonly unknown: readonly string[];
  /** Of all its shares. */
  readonly needBytes: number;
  /** Absent when its memory is unknown. */
  readonly verdict?: FitVerdict;
}

/** Parts of the budget and of the memory at which a node is judged otherwise. @see runtimes: section 6.1 */
export const fitMarks = { tight: 0.9, degraded: 0.7, nearDegraded: 0.6 } as const;
