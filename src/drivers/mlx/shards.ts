import { tensorProblems } from '../../desired/tensor-limits.ts';
import type { ModelShape } from '../../model/model-shape.ts';
import { otherSplits, type RankSplit, type SplitJudgement } from '../contract/split.ts';

/** A model to be split over so many ranks by a version of mlx-lm. */
export interface Split {
  readonly shape: ModelShape;
  readonly sharding: 'tensor' | 'pipeline';
  readonly size: number;
  /** Of mlx-lm, such as `0.31.3`. */
  readonly version: string;
}

/** Why a model cannot be split so. */
export interface SplitProblem {
  /**
   * too-old: this version of mlx-lm does not know the options of a rank, split or not; no-way: it has no such way for this kind of model;
   * not-known: it is newer than what this program knows of, and older ones had none; not-divisible: something of the
   * model cannot be divided by the number of ranks; lost-layers: a pipeline would leave layers out.
   */
  readonly kind: 'too-old' | 'no-way' | 'not-known' | 'not-divisible' | 'lost-layers';
  readonly detail: string;
}

/** Whether a version of mlx-lm ends at once, whatever the model: its server does not know the options of a rank. */
export const tooOld = (version: string): SplitProblem | undefined =>
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

/** Everything that speaks against a split; a newer mlx-lm than is known leaves doubts. */
export function judgeSplit({ mlxLm: version, ...split }: RankSplit): SplitJudgement {
  const found = splitProblems({ ...split, version });
  const isDoubt = ({ kind }: SplitProblem): boolean => kind === 'not-known';
  const texts = (of: readonly SplitProblem[]): readonly string[] => of.map(({ detail }) => detail);
  return { problems: texts(found.filter((one) => !isDoubt(one))), doubts: texts(found.filter(isDoubt)) };
}

/** Newer than every version of mlx-lm. */
const aboveAll = '9999';

export function splitAdvice(split: RankSplit): string {
  if (tooOld(split.mlxLm) !== undefined) return `Use mlx-lm ${oldestVersion} or a newer one.`;
  const { problems, doubts } = judgeSplit({ ...split, mlxLm: aboveAll });
  const newer = problems.length + doubts.length === 0 ? 'a newer mlx-lm, one node' : 'one node';
  return otherSplits(split, judgeSplit) ?? `Use ${newer}, or another runtime.`;
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

/** The numbers at the beginning of a version of a Python package: `0.31.3.post1` → 0, 31, 3. */
const numbersOf = (version: string): readonly number[] =>
  (/^\d+(?:\.\d+)*/.exec(version)?.[0] ?? '').split('.').map(Number);

/** Whether one version of a Python package is older than another one, by their numbers alone. */
export function isBelow(version: string, other: string): boolean {
  const [mine, theirs] = [numbersOf(version), numbersOf(other)];
  for (let at = 0; at < Math.max(mine.length, theirs.length); at += 1) {
    const difference = (mine[at] ?? 0) - (theirs[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** From which version of mlx-lm on a kind of model can be split; absent where no version can. */
interface ModelClass {
  readonly tensor?: string;
  readonly pipeline?: string;
  /** Whether it repeats heads of keys and values where there are more ranks than those. */
  readonly repeatsKvHeads?: true;
}

/**
 * The oldest mlx-lm whose server has every option that a rank is started with: `--prompt-cache-bytes` came with 0.31.0,
 * `--decode-concurrency`, `--prompt-concurrency` and `--pipeline` with 0.30.6.
 *
 * @see mlx_lm/server.py of mlx-lm at v0.30.5 to v0.31.3
 */
export const oldestVersion = '0.31.0';

/** The last version of mlx-lm that this table was read from; later ones may be able to split more. */
export const lastVersionRead = '0.32.0';

/** Up to this version the layers that a division leaves over are loaded by no rank of a pipeline. */
const lastLossyPipeline = '0.32.0';

/**
 * By `model_type` of the model's own config.json, as mlx-lm names its classes: which of them have a method `shard`, and
 * which have `model.pipeline`. What is not in here cannot be split over several nodes. A file that has no class of its own
 * may still have one of another: `solar_open` is that of `glm4_moe` by an import.
 *
 * @see mlx_lm/models/*.py and sharded_load in mlx_lm/utils.py of mlx-lm, read at every version from 0.31.0 to 0.32.0
 */
export const modelClasses: Readonly<Record<string, ModelClass>> = {
  deepseek_v2: { tensor: oldestVersion, pipeline: oldestVersion },
  deepseek_v3: { tensor: oldestVersion, pipeline: oldestVersion },
  deepseek_v32: { tensor: oldestVersion, pipeline: oldestVersion },
  exaone_moe: { tensor: oldestVersion },
  glm4_moe: { tensor: oldestVersion, pipeline: oldestVersion },
  glm4_moe_lite: { tensor: oldestVersion, pipeline: oldestVersion },
  glm_moe_dsa: { tensor: oldestVersion, pipeline: oldestVersion },
  gpt_oss: { tensor: oldestVersion },
  iquestloopcoder: { tensor: oldestVersion },
  kimi_k25: { tensor: oldestVersion, pipeline: oldestVersion },
  llama: { tensor: oldestVersion },
  longcat_flash: { tensor: oldestVersion },
  longcat_flash_ngram: { tensor: oldestVersion },
  minimax: { tensor: oldestVersion },
  ministral3: { tensor: oldestVersion, pipeline: oldestVersion },
  qwen2: { tensor: oldestVersion },
  qwen3: { tensor: oldestVersion },
  qwen3_5: { tensor: oldestVersion, pipeline: '0.32.0', repeatsKvHeads: true },
  qwen3_5_moe: { tensor: oldestVersion, pipeline: '0.32.0', repeatsKvHeads: true },
  solar_open: { tensor: oldestVersion, pipeline: oldestVersion },
  step3p5: { tensor: oldestVersion },
};

/** Names that mlx-lm takes for another class. @see MODEL_REMAPPING in mlx_lm/utils.py of mlx-lm 0.32.0 */
const otherNames: Readonly<Record<string, string>> = {
  iquestcoder: 'llama',
  joyai_llm_flash: 'deepseek_v3',
  kimi_k2: 'deepseek_v3',
  minimax_m2: 'minimax',
  mistral: 'llama',
};
