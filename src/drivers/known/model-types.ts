import { inRange } from '../../desired/version-range.ts';
import { given } from '../../model/given.ts';
import { type MlxSupport, mlxTable } from './mlx-lm-types.ts';

/** What the runtimes can do with a kind of model. An absent runtime means that nothing is known about it. */
export interface ModelType {
  readonly mlx?: MlxSupport | 'unsupported';
  /** exo splits a model without a card by tensor if `architectures` contains only this class. */
  readonly exo?: { readonly class: string; readonly tensor: string };
}

/**
 * The oldest mlx-lm whose server has all options of a rank: `--prompt-cache-bytes` came with 0.31.0;
 * `--decode-concurrency`, `--prompt-concurrency` and `--pipeline` came with 0.30.6.
 *
 * @see mlx_lm/server.py of mlx-lm at v0.30.5 to v0.31.3
 */
export const oldestMlxLm = '0.31.0';

/** The newest mlx-lm version in the table; newer versions may split more models. */
export const newestMlxLm = mlxTable.versions.at(-1) ?? oldestMlxLm;

/** The newest exo versions in this table: the last release, and the version that a build of main declares. */
export const newestExo = { release: '1.0.71', main: '1.0.72' } as const;

const asExo = (name: string, tensor = '>=1.0.0') => ({ class: name, tensor });

const exoTypes: Readonly<Record<string, NonNullable<ModelType['exo']>>> = {
  deepseek_v3: asExo('DeepseekV3ForCausalLM'),
  deepseek_v32: asExo('DeepseekV32ForCausalLM'),
  deepseek_v4: asExo('DeepseekV4ForCausalLM', `>${newestExo.release}`),
  gemma4: asExo('Gemma4ForConditionalGeneration'),
  glm4_moe_lite: asExo('Glm4MoeLiteForCausalLM'),
  glm_moe_dsa: asExo('GlmMoeDsaForCausalLM'),
  gpt_oss: asExo('GptOssForCausalLM'),
  kimi_k2: asExo('DeepseekV3ForCausalLM'),
  llama: asExo('LlamaForCausalLM'),
  minimax_m2: asExo('MiniMaxM2ForCausalLM'),
  nemotron_h: asExo('NemotronHForCausalLM'),
  qwen3_5: asExo('Qwen3_5ForConditionalGeneration'),
  qwen3_5_moe: asExo('Qwen3_5MoeForConditionalGeneration'),
  qwen3_moe: asExo('Qwen3MoeForCausalLM'),
  qwen3_next: asExo('Qwen3NextForCausalLM'),
  qwen3_vl: asExo('Qwen3VLForConditionalGeneration'),
  step3p5: asExo('Step3p5ForCausalLM'),
};

/** Kinds of known models that neither runtime has. */
const otherTypes = ['glm5_next', 'qwen4exp'];

const mlxTypes: Readonly<Record<string, MlxSupport>> = Object.fromEntries(
  mlxTable.kinds.flatMap(({ can, types }) => words(types).map((type): [string, MlxSupport] => [type, can])),
);

/**
 * The kinds of models by `model_type` in `config.json`. `npm run mlx-types` reads mlx-lm's part from the released wheels,
 * so that a kind of model without an entry there has no class in any of these versions.
 *
 * @see exo: supports_tensor in shared/models/model_cards.py at v1.0.71 and at b5375f8c
 */
export const modelTypes: Readonly<Record<string, ModelType>> = Object.fromEntries(
  [...new Set([...Object.keys(mlxTypes), ...Object.keys(exoTypes), ...otherTypes])].map((type): [string, ModelType] => [
    type,
    { mlx: mlxTypes[type] ?? 'unsupported', ...given({ exo: exoTypes[type] }) },
  ]),
);

/** The names in a text of several lines. */
export function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** What is known about a `model_type`; undefined if meshwright does not know it. */
export const modelType = (name: string): ModelType | undefined =>
  Object.hasOwn(modelTypes, name) ? modelTypes[name] : undefined;

/** Whether this exo version splits a model of this class by tensor without a card. */
export const hasExoClass = (name: string, version: string): boolean =>
  Object.values(modelTypes).some(({ exo }) => exo?.class === name && inRange(version, exo.tensor));
