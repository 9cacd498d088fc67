import { tensorProblems } from '../../desired/tensor-limits.ts';
import { compareNumbers } from '../../model/lists.ts';
import { otherSplits, type RankSplit, type SplitJudgement } from '../contract/split.ts';

/** The reason why a model cannot be split this way. */
export interface SplitProblem {
  /**
   * too-old: this mlx-lm lacks the options of a rank, split or not; no-way: it cannot split this kind of model this
   * way; not-known: this program does not know the version, and older versions cannot split the model; not-divisible:
   * part of the model is not divisible by the number of ranks; lost-layers: a pipeline would skip layers.
   */
  readonly kind: 'too-old' | 'no-way' | 'not-known' | 'not-divisible' | 'lost-layers';
  readonly detail: string;
}

/** The problem of an mlx-lm version whose server lacks the options of a rank and therefore exits immediately. */
export const tooOld = (version: string): SplitProblem | undefined =>
  isBelow(version, oldestVersion)
    ? { kind: 'too-old', detail: `mlx-lm ${version} is too old; at least ${oldestVersion} is needed.` }
    : undefined;

/** All problems of a split; for a single rank, only whether mlx-lm is too old. */
export function splitProblems(split: RankSplit): readonly SplitProblem[] {
  const old = tooOld(split.mlxLm);
  if (old !== undefined) return [old];
  if (split.size === 1) return [];
  const way = wayProblem(split);
  if (way !== undefined) return [way];
  return split.sharding === 'tensor' ? undivided(split) : lost(split);
}

/** Problems of a split become objections. If the version is unknown to this program, they become doubts. */
export function judgeSplit(split: RankSplit): SplitJudgement {
  const found = splitProblems(split);
  const isDoubt = ({ kind }: SplitProblem): boolean => kind === 'not-known';
  const texts = (of: readonly SplitProblem[]): readonly string[] => of.map(({ detail }) => detail);
  return { problems: texts(found.filter((one) => !isDoubt(one))), doubts: texts(found.filter(isDoubt)) };
}

const aboveAll = '9999';

export function splitAdvice(split: RankSplit): string {
  if (tooOld(split.mlxLm) !== undefined) return `Use mlx-lm ${oldestVersion} or newer.`;
  const { problems, doubts } = judgeSplit({ ...split, mlxLm: aboveAll });
  const newer = problems.length + doubts.length === 0 ? 'a newer mlx-lm, one node' : 'one node';
  return otherSplits(split, judgeSplit) ?? `Use ${newer}, or another runtime.`;
}

function classOf(modelType: string): ModelClass | undefined {
  const name = Object.hasOwn(otherNames, modelType) ? otherNames[modelType] : modelType;
  return name !== undefined && Object.hasOwn(modelClasses, name) ? modelClasses[name] : undefined;
}

const words = { tensor: 'by tensor', pipeline: 'as a pipeline' } as const;

function wayProblem({ shape: { architecture }, sharding, mlxLm: version }: RankSplit): SplitProblem | undefined {
  const since = classOf(architecture)?.[sharding];
  const cannot = `mlx-lm ${version} cannot split ${architecture} models ${words[sharding]}`;
  if (since !== undefined) {
    return isBelow(version, since) ? { kind: 'no-way', detail: `${cannot}; ${since} can.` } : undefined;
  }
  return isBelow(lastVersionRead, version)
    ? {
        kind: 'not-known',
        detail: `mlx-lm up to ${lastVersionRead} cannot split ${architecture} models ${words[sharding]}; newer ones may.`,
      }
    : { kind: 'no-way', detail: `${cannot}.` };
}

function undivided({ shape, size }: RankSplit): readonly SplitProblem[] {
  const isRepeated = classOf(shape.architecture)?.repeatsKvHeads === true && size % shape.kvHeads === 0;
  // Repeated key-value heads can be divided like the other heads.
  const counted = isRepeated ? { ...shape, kvHeads: shape.heads } : shape;
  return tensorProblems(counted, size).map((detail) => ({ kind: 'not-divisible', detail }));
}

function lost({ shape, size, mlxLm: version }: RankSplit): readonly SplitProblem[] {
  const layers = shape.layers.length;
  const missing = isBelow(lastLossyPipeline, version) ? [] : lostLayers(layers, size);
  if (missing.length === 0) return [];
  const which = missing.length === 1 ? `layer ${missing[0]}` : `layers ${missing.join(', ')}`;
  const detail = `mlx-lm ${version} would load ${which} of ${layers} on none of ${size} nodes, without an error.`;
  return [{ kind: 'lost-layers', detail }];
}

/**
 * The layers, counted from 0, that no rank loads. Rank 0 has the last layers. Each rank computes its first layer from
 * its own number of layers, so ranks with different numbers of layers leave gaps.
 *
 * @see PipelineMixin in mlx_lm/models/pipeline.py, and issue 1688 of mlx-lm
 */
export function lostLayers(layers: number, size: number): readonly number[] {
  const least = Math.floor(layers / size);
  const extra = layers - least * size;
  const loaded = new Set<number>();
  for (let rank = 0; rank < size; rank += 1) {
    const count = least + (rank < extra ? 1 : 0);
    for (let layer = 0; layer < count; layer += 1) loaded.add((size - rank - 1) * count + layer);
  }
  return Array.from({ length: layers }, (_, layer) => layer).filter((layer) => !loaded.has(layer));
}

/** The leading numbers of a Python package version: `0.31.3.post1` → 0, 31, 3. */
const numbersOf = (version: string): readonly number[] =>
  (/^\d+(?:\.\d+)*/.exec(version)?.[0] ?? '').split('.').map(Number);

/** Compares Python package versions by their numbers only. */
export const isBelow = (version: string, other: string): boolean =>
  compareNumbers(numbersOf(version), numbersOf(other)) < 0;

/** The first version of mlx-lm that can split a kind of model; absent if no version can. */
interface ModelClass {
  readonly tensor?: string;
  readonly pipeline?: string;
  /** Whether mlx-lm repeats key-value heads if there are more ranks than heads. */
  readonly repeatsKvHeads?: true;
}

/**
 * The oldest mlx-lm whose server has all options of a rank: `--prompt-cache-bytes` came with 0.31.0;
 * `--decode-concurrency`, `--prompt-concurrency` and `--pipeline` came with 0.30.6.
 *
 * @see mlx_lm/server.py of mlx-lm at v0.30.5 to v0.31.3
 */
export const oldestVersion = '0.31.0';

/** The newest mlx-lm version in this table; newer versions may split more models. */
export const lastVersionRead = '0.32.0';

/** Up to this version, no pipeline rank loads the layers that remain after an even division. */
const lastLossyPipeline = '0.32.0';

/**
 * Which models mlx-lm can split, by `model_type` in the model's config.json: by tensor if their class has a method
 * `shard`, as a pipeline if it has `model.pipeline`. Models that are not in this table cannot be split. A file may
 * import its class from another one: `solar_open` uses that of `glm4_moe`.
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

/** Model types that mlx-lm maps to a different class. @see MODEL_REMAPPING in mlx_lm/utils.py of mlx-lm 0.32.0 */
const otherNames: Readonly<Record<string, string>> = {
  iquestcoder: 'llama',
  joyai_llm_flash: 'deepseek_v3',
  kimi_k2: 'deepseek_v3',
  minimax_m2: 'minimax',
  mistral: 'llama',
};
