import type { DesiredNode, DesiredPlacement, DesiredWiredLimit, DriverName } from './desired.ts';
import type { FitNodeMemory } from './documents.generated.ts';
import type { ModelShape } from './model-shape.ts';
import type { Link, NodeName } from './node.ts';

/** What `fit MODEL` found. */
export interface ModelFit {
  readonly model: string;
  readonly shape: ModelShape;
  readonly driver: DriverName;
  readonly sharding?: 'tensor' | 'pipeline';
  readonly contextTokens: number;
  readonly parallel: number;
  /** In rank order; other placements of the file on these nodes are counted too. */
  readonly nodes: readonly NodeFit[];
  /** The worst of the nodes. */
  readonly verdict: FitVerdict;
  /** Why it cannot be split over so many nodes; empty where it can. */
  readonly problems: readonly string[];
  /** Why nobody knows whether it can; empty where somebody does. */
  readonly doubts: readonly string[];
  /** Which Macs set the pace; absent where the Macs are equal or a model is unknown. */
  readonly pace?: string;
  /** Of mlx: the version of mlx-lm that it is judged for, and whether nobody said which it is. */
  readonly mlxLm?: { readonly version: string; readonly isAssumed: boolean };
  /** What to do instead, one sentence; absent where nothing speaks against it. */
  readonly advice?: string;
}

/** Whether it can be started so. */
export const canRun = ({ verdict, problems }: Pick<ModelFit, 'verdict' | 'problems'>): boolean =>
  problems.length === 0 && verdict !== 'does-not-fit' && verdict !== 'tight';

/** So many Macs of one model. */
export interface MacCount {
  /** Its identifier, as `hw.model` prints it. */
  readonly model: string;
  readonly count: number;
}

/** What is known of the Macs of one model that were asked for. */
export interface FitModel extends MacCount {
  readonly name: string;
  readonly thunderbolt: 4 | 5;
  /** How many receptacles each has; macOS numbers them from 1. */
  readonly receptacles: number;
  /** Of these the ones that are better left free. */
  readonly doubtful: readonly number[];
}

/** Cables between some of the Macs, in one shape. */
export interface FitShape {
  /** Which Macs take part, by model. */
  readonly macs: readonly MacCount[];
  /** How many Macs that are, at least two. */
  readonly size: number;
  /** How many receptacles each of them needs. */
  readonly receptaclesEach: number;
  /** Every cable; the names of nodes are made up, one for each Mac that was asked for. */
  readonly links: readonly Link['ends'][];
  /** The models with a cable in a receptacle that is better left free. */
  readonly doubtfulModels: readonly string[];
}

/** What Macs of these models can be cabled to. */
export interface MeshFit {
  /** In the order in which they were asked for, each model once. */
  readonly models: readonly FitModel[];
  /** How many Macs were asked for. */
  readonly asked: number;
  /** The largest full mesh; absent when not even two of them can have RDMA. */
  readonly mesh?: FitShape;
  /** How many Macs the largest full mesh has that leaves doubtful receptacles free; 0 when there is none. */
  readonly carefulSize: number;
  /** A ring of all that can have RDMA; absent when there are fewer than three. */
  readonly ring?: FitShape;
}

/** Whether all the Macs that were asked for can be fully meshed. */
export const isFullMesh = ({ asked, mesh }: MeshFit): boolean => mesh?.size === asked;

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

/** Parts of the budget and of the memory at which a node is judged otherwise. @see docs/fit.md */
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

/** The memory of a node as documents have it; all sizes are bytes. */
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
