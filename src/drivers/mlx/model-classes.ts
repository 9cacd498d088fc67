/** From which version of mlx-lm on a kind of model can be split; absent where no version can. */
export interface ModelClass {
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
export const lastLossyPipeline = '0.32.0';

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
export const otherNames: Readonly<Record<string, string>> = {
  iquestcoder: 'llama',
  joyai_llm_flash: 'deepseek_v3',
  kimi_k2: 'deepseek_v3',
  minimax_m2: 'minimax',
  mistral: 'llama',
};
