/** From which version of mlx-lm on a kind of model can be split; absent where no version can. */
export interface ModelClass {
  readonly tensor?: string;
  readonly pipeline?: string;
  /** Whether it repeats heads of keys and values where there are more ranks than those. */
  readonly repeatsKvHeads?: true;
}

/** Older than every version that is looked at here. */
const always = '0.22.0';

/** The last version of mlx-lm that this table was read from; later ones may be able to split more. */
export const lastVersionRead = '0.32.0';

/** Up to this version the layers that a division leaves over are loaded by no rank of a pipeline. */
export const lastLossyPipeline = '0.32.0';

/**
 * By `model_type` of the model's own config.json, as mlx-lm names its classes: which of them have a method `shard`, and
 * which have `model.pipeline`. What is not in here cannot be split over several nodes. A file that has no class of its own
 * may still have one of another: `solar_open` is that of `glm4_moe` by an import.
 *
 * @see mlx_lm/models/*.py and sharded_load in mlx_lm/utils.py of mlx-lm, read at every version from 0.28.3 to 0.32.0
 */
export const modelClasses: Readonly<Record<string, ModelClass>> = {
  deepseek_v2: { tensor: '0.30.0', pipeline: always },
  deepseek_v3: { tensor: '0.30.0', pipeline: always },
  deepseek_v32: { tensor: '0.30.0', pipeline: '0.28.4' },
  exaone_moe: { tensor: '0.30.1' },
  glm4_moe: { tensor: '0.30.1', pipeline: '0.28.4' },
  glm4_moe_lite: { tensor: '0.30.4', pipeline: '0.30.4' },
  glm_moe_dsa: { tensor: '0.30.7', pipeline: '0.30.7' },
  gpt_oss: { tensor: '0.30.4' },
  iquestloopcoder: { tensor: '0.30.4' },
  kimi_k25: { tensor: '0.30.6', pipeline: '0.30.6' },
  llama: { tensor: '0.30.0' },
  longcat_flash: { tensor: '0.30.4' },
  longcat_flash_ngram: { tensor: '0.30.6' },
  minimax: { tensor: '0.30.4' },
  ministral3: { tensor: '0.30.0', pipeline: '0.30.0' },
  qwen2: { tensor: '0.30.0' },
  qwen3: { tensor: '0.30.0' },
  qwen3_5: { tensor: '0.31.0', pipeline: '0.32.0', repeatsKvHeads: true },
  qwen3_5_moe: { tensor: '0.31.0', pipeline: '0.32.0', repeatsKvHeads: true },
  solar_open: { tensor: '0.30.1', pipeline: '0.30.1' },
  step3p5: { tensor: '0.30.6' },
};

/** Names that mlx-lm takes for another class. @see MODEL_REMAPPING in mlx_lm/utils.py of mlx-lm 0.32.0 */
export const otherNames: Readonly<Record<string, string>> = {
  iquestcoder: 'llama',
  joyai_llm_flash: 'deepseek_v3',
  kimi_k2: 'deepseek_v3',
  minimax_m2: 'minimax',
  mistral: 'llama',
};
