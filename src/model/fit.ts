import type { DesiredNode, DesiredPlacement, DesiredWiredLimit, DriverName } from './desired.ts';
import type { FitMeshAnswer, FitModelAnswer, FitNodeMemory } from './documents.generated.ts';
import type { ModelShape } from './model-shape.ts';
import type { Link, NodeName } from './node.ts';

/** The result of `fit MODEL`. */
export interface ModelFit
  extends Pick<
    FitModelAnswer,
    'model' | 'contextTokens' | 'parallel' | 'problems' | 'doubts' | 'sharding' | 'pace' | 'advice'
  > {
  readonly shape: ModelShape;
  readonly driver: DriverName;
  /** In rank order, including other placements in the file on these nodes. */
  readonly nodes: readonly NodeFit[];
  /** The worst of the nodes. */
  readonly verdict: FitVerdict;
  /** For mlx: the mlx-lm version of the check, and whether it is assumed. */
  readonly mlxLm?: { readonly version: string; readonly isAssumed: boolean };
}

export const canRun = ({ verdict, problems }: Pick<ModelFit, 'verdict' | 'problems'>): boolean =>
  problems.length === 0 && verdict !== 'does-not-fit' && verdict !== 'tight';

/** A number of Macs of one model. */
export interface MacCount {
  /** Its identifier, as `hw.model` prints it. */
  readonly model: string;
  readonly count: number;
}

/** The requested Macs of one model; the doubtful receptacles are those to leave free if possible. */
export type FitModel = FitMeshAnswer['models'][number];

/** One shape of cabling for some of the Macs, at least two. */
export interface FitShape extends Omit<NonNullable<FitMeshAnswer['mesh']>, 'cables' | 'links'> {
  /** All cables, between generated node names, one per requested Mac. */
  readonly links: readonly Link['ends'][];
}

/** The possible cabling of the requested Macs. */
export interface MeshFit extends Pick<FitMeshAnswer, 'models' | 'asked' | 'carefulSize'> {
  /** The largest full mesh; absent if fewer than two Macs support RDMA. */
  readonly mesh?: FitShape;
  /** A ring of all Macs that support RDMA; absent for fewer than three. */
  readonly ring?: FitShape;
}

/** Whether all requested Macs fit into a full mesh. */
export const isFullMesh = ({ asked, mesh }: MeshFit): boolean => mesh?.size === asked;

/** A placement, as needed for its memory. */
export interface FitPlacement
  extends Pick<
    DesiredPlacement,
    'name' | 'model' | 'runtime' | 'nodes' | 'sharding' | 'contextTokens' | 'parallel' | 'state' | 'lingersOn'
  > {
  /** The layers per rank; absent if equal. */
  readonly shares?: readonly number[];
  /** Extra arguments; a driver reads the type of its cache from them. */
  readonly args?: DesiredPlacement['args'];
  readonly env?: DesiredPlacement['env'];
  /** Set if its leader runs a gateway for it. */
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

/** The memory limit of a node's GPU, with its source. */
export interface MemoryBudget {
  readonly bytes: number;
  /**
   * desired: the file sets it; seen: already set on the node; reported: macOS's own choice, as the log of a
   * rank has it; assumed: usual for its size, until it is seen.
   */
  readonly kind: 'desired' | 'seen' | 'reported' | 'assumed';
}

/** The memory that one rank needs, in bytes. */
export type RankNeed = Omit<FitNodeMemory['placements'][number], 'placement' | 'rank'>;

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

/** The memory of one node with all its placements. */
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
  /** Absent if its memory is unknown. */
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

/** A node's memory in JSON documents; all sizes are bytes. */
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
