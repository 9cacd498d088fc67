import { tensorProblems } from '../../desired/fit/tensor-limits.ts';
import type { ModelShape } from '../../model/fit/model-shape.ts';
import {
  lastLossyPipeline,
  lastVersionRead,
  type ModelClass,
  modelClasses,
  oldestVersion,
  otherNames,
} from './model-classes.ts';
import { isBelow } from './version.ts';

/** A model to be split over so many ranks by a version of mlx-lm. */
export interface Split {
  readonly shape: ModelShape;
  readonly sharding: 'tensor' | 'pipeline';
  readonly size: number;
  /** Of mlx-lm, such as `0.31.3`. */
  readonly version: string;
}

/** Why a model cannot be split so. */
export type SplitProblem =
  /** This version of mlx-lm does not know the options of a rank, split or not. */
  | { readonly kind: 'too-old'; readonly detail: string }
  /** This version of mlx-lm has no such way for this kind of model. */
  | { readonly kind: 'no-way'; readonly detail: string }
  /** It is newer than what this program knows of, and older ones had none. */
  | { readonly kind: 'not-known'; readonly detail: string }
  /** Something of the model cannot be divided by the number of ranks. */
  | { readonly kind: 'not-divisible'; readonly detail: string }
  /** A pipeline would leave layers out. */
  | { readonly kind: 'lost-layers'; readonly detail: string };

/** Whether a version of mlx-lm ends at once, whatever the model: its server does not know the options of a rank. */
export const tooOld = (version: string): Extract<SplitProblem, { kind: 'too-old' }> | undefined =>
  isBelow(version, oldestVersion)
    ? { kind: 'too-old', detail: `mlx-lm ${version} is older than ${oldestVersion}, the oldest that can be started.` }
    : undefined;

/** Everything that speaks against a split; for a single rank only the age of mlx-lm. */
export function splitProblems(split: Split): readonly SplitProblem[] {
  const old = tooOld(split.version);
  if (old !== undefined) return [old];
  if (split.size === 1) return [];
  const way = wayProblem(split);
  if (way !== undefined) return [way];
  return split.sharding === 'tensor' ? undivided(split) : lost(split);
}

function classOf(modelType: string): ModelClass | undefined {
  const name = Object.hasOwn(otherNames, modelType) ? otherNames[modelType] : modelType;
  return name !== undefined && Object.hasOwn(modelClasses, name) ? modelClasses[name] : undefined;
}

const words = { tensor: 'by its tensors', pipeline: 'into a pipeline' } as const;

function wayProblem({ shape: { architecture }, sharding, version }: Split): SplitProblem | undefined {
  const since = classOf(architecture)?.[sharding];
  const cannot = `mlx-lm ${version} cannot split a model of the kind ${architecture} ${words[sharding]}`;
  if (since !== undefined) {
    return isBelow(version, since) ? { kind: 'no-way', detail: `${cannot}; ${since} can.` } : undefined;
  }
  return isBelow(lastVersionRead, version)
    ? {
        kind: 'not-known',
        detail: `Up to ${lastVersionRead} no mlx-lm could split a model of the kind ${architecture} ${words[sharding]}.`,
      }
    : { kind: 'no-way', detail: `${cannot}.` };
}

function undivided({ shape, size }: Split): readonly SplitProblem[] {
  const isRepeated = classOf(shape.architecture)?.repeatsKvHeads === true && size % shape.kvHeads === 0;
  // Where heads of keys and values are repeated, there are as many as it takes.
  const counted = isRepeated ? { ...shape, kvHeads: shape.heads } : shape;
  return tensorProblems(counted, size).map((detail) => ({ kind: 'not-divisible', detail }));
}

function lost({ shape, size, version }: Split): readonly SplitProblem[] {
  const layers = shape.layers.length;
  const missing = isBelow(lastLossyPipeline, version) ? [] : lostLayers(layers, size);
  if (missing.length === 0) return [];
  const which = missing.length === 1 ? `layer ${missing[0]}` : `layers ${missing.join(', ')}`;
  const detail = `mlx-lm ${version} would load ${which} of ${layers} on none of ${size} nodes, and show no error.`;
  return [{ kind: 'lost-layers', detail }];
}

/**
 * The layers, counted from 0, that no rank loads: rank 0 has the last ones, and the ranks that have one more count
 * their beginning in layers of that size, the others in those of theirs.
 *
 * @see PipelineMixin in mlx_lm/models/pipeline.py, and issue 1688 of mlx-lm
 */
export function lostLayers(layers: number, size: number): readonly number[] {
  const least = Math.floor(layers / size);
  const extra = layers - least * size;
  const loaded = new Set<number>();
  for (let rank = 0; rank < size; rank += 1) {
    const count = least + (rank < extra ? 1 : 0);
    const start = (size - rank - 1) * count;
    for (let layer = start; layer < Math.min(layers, start + count); layer += 1) loaded.add(layer);
  }
  return Array.from({ length: layers }, (_, layer) => layer).filter((layer) => !loaded.has(layer));
}
