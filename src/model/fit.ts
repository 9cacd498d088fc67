import type { DesiredNode, DesiredPlacement, DesiredWiredLimit, DriverName } from './desired.ts';
import type { FitMeshAnswer, FitModelAnswer, FitNodeMemory } from './documents.generated.ts';
import type { ModelShape } from './model-shape.ts';
import type { Link, NodeName } from './node.ts';

interface AssumedVersion {
  readonly version: string;
  readonly isAssumed: boolean;
}

/** The result of `fit MODEL`. */
export interface ModelFit
  extends Pick<
    FitModelAnswer,
    'model' | 'contextTokens' | 'parallel' | 'problems' | 'doubts' | 'sharding' | 'pace' | 'advice'
  > {
  readonly shape: ModelShape;
  readonly driver: DriverName;
  /** In rank order; memory includes the file's other placements on these nodes. */
  readonly nodes: readonly NodeFit[];
  /** The worst verdict of the nodes. */
  readonly verdict: FitVerdict;
  /** For mlx: the mlx-lm version that the check applies to, and whether that version is assumed. */
  readonly mlxLm?: AssumedVersion;
  /** For exo: the same. */
  readonly exo?: AssumedVersion;
}

export const canRun = ({ verdict, problems }: Pick<ModelFit, 'verdict' | 'problems'>): boolean =>
  problems.length === 0 && verdict !== 'does-not-fit' && verdict !== 'tight';

/** A count of Macs of one model. */
export interface MacCount {
  /** The model identifier, as `hw.model` prints it. */
  readonly model: string;
  readonly count: number;
}

/** The requested Macs of one model. Doubtful receptacles are better left free. */
export type FitModel = FitMeshAnswer['models'][number];

/** One way to cable at least two of the Macs. */
export interface FitShape extends Omit<NonNullable<FitMeshAnswer['mesh']>, 'cables' | 'links'> {
  /** All cables. Node names are generated, one for each requested Mac. */
  readonly links: readonly Link['ends'][];
}

/** The possible cabling of the requested Macs. */
export interface MeshFit extends Pick<FitMeshAnswer, 'models' | 'asked' | 'carefulSize'> {
  /** The largest full mesh; absent if fewer than two Macs support RDMA. */
  readonly mesh?: FitShape;
  /** A ring of all Macs that support RDMA; absent for fewer than three. */
  readonly ring?: FitShape;
}

/** True if all requested Macs fit into a full mesh. */
export const isFullMesh = ({ asked, mesh }: MeshFit): boolean => mesh?.size === asked;

/** The fields of a placement that determine its memory needs. */
export interface FitPlacement
  extends Pick<
    DesiredPlacement,
    'name' | 'model' | 'runtime' | 'nodes' | 'sharding' | 'contextTokens' | 'parallel' | 'state' | 'lingersOn'
  > {
  /** Number of layers per rank; absent if equal. */
  readonly shares?: readonly number[];
  /** The model that drafts answers, which the first rank holds next to its part of `model`. */
  readonly drafter?: DesiredPlacement['drafter'];
  /** Nodes with a role, whose ranks have the whole model. */
  readonly roles?: DesiredPlacement['roles'];
  /** Extra arguments, from which a driver reads its cache type. */
  readonly args?: DesiredPlacement['args'];
  readonly env?: DesiredPlacement['env'];
  /** Set if the leader runs a gateway for this placement. */
  readonly publication?: unknown;
}

/** The part of a fleet that determines memory fit. */
export interface FitFleet {
  readonly nodes: readonly Pick<DesiredNode, 'name' | 'hardware'>[];
  readonly runtimes: readonly { readonly name: string; readonly driver: DriverName }[];
  readonly models: readonly { readonly name: string; readonly shape?: ModelShape }[];
  readonly placements: readonly FitPlacement[];
  readonly system: { readonly wiredLimit?: DesiredWiredLimit };
}

/** A node's GPU memory limit, with its source. */
export interface MemoryBudget {
  readonly bytes: number;
  /**
   * desired: set in the file; seen: already set on the node; reported: macOS's choice, from a rank's log; assumed: the
   * usual limit for this memory size, until the limit is observed.
   */
  readonly kind: 'desired' | 'seen' | 'reported' | 'assumed';
}

/** The memory that one rank needs, in bytes. */
export type RankNeed = Omit<FitNodeMemory['placements'][number], 'placement' | 'rank'>;

/**
 * How much of a node's memory its placements need. does-not-fit: more than the GPU can use; tight: more than 90 % of
 * that; degraded, near-degraded: more than 70 % or 60 % of the node's memory, where meshes become slow.
 */
export type FitVerdict = 'fits' | 'near-degraded' | 'degraded' | 'tight' | 'does-not-fit';

/** One placement's memory needs on one node. */
export interface PlacementShare {
  readonly placement: string;
  readonly rank: number;
  readonly need: RankNeed;
}

/** One node's memory with all its placements. */
export interface NodeFit {
  readonly node: NodeName;
  /** Absent if unknown. */
  readonly memoryBytes?: number;
  readonly budget?: MemoryBudget;
  readonly shares: readonly PlacementShare[];
  /** Placements with unknown memory needs. */
  readonly unknown: readonly string[];
  /** The sum of all shares. */
  readonly needBytes: number;
  /** Absent if the node's memory is unknown. */
  readonly verdict?: FitVerdict;
}

/** Thresholds of the verdicts, as shares of the budget and of the memory. @see docs/fit.md */
export const fitMarks = { tight: 0.9, degraded: 0.7, nearDegraded: 0.6 } as const;

const needJson = ({ total, weights, cache, compute, promptCache, loading, process }: RankNeed) => ({
  total: Math.round(total),
  weights: Math.round(weights),
  cache: Math.round(cache),
  compute: Math.round(compute),
  promptCache,
  loading,
  process: Math.round(process),
});

/** Formats a node's memory for JSON documents; all sizes are in bytes. */
export const nodeFitJson = ({
  node,
  memoryBytes,
  budget,
  needBytes,
  verdict,
  shares,
  unknown,
}: NodeFit): FitNodeMemory => ({
  node,
  memory: memoryBytes ?? null,
  budget: budget?.bytes ?? null,
  budgetKind: budget?.kind ?? null,
  need: Math.round(needBytes),
  verdict: verdict ?? null,
  placements: shares.map(({ placement, rank, need }) => ({ placement, rank, ...needJson(need) })),
  unknown,
});
