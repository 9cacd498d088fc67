import type { DriverName } from '../desired.ts';
import type { FitVerdict, NodeFit } from './memory-fit.ts';
import type { ModelShape } from './model-shape.ts';

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
