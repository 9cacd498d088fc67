import { inRange } from '../../desired/version-range.ts';

/** How mlx-lm splits a kind of model. The values are ranges of mlx-lm versions; an absent one means "in none". */
export interface MlxSupport {
  /** Versions that load the model at all; absent: every version that meshwright accepts. */
  readonly loads?: string;
  readonly tensor?: string;
  readonly pipeline?: string;
  /** Whether mlx-lm repeats key-value heads if there are more ranks than heads. */
  readonly repeatsKvHeads?: true;
}

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

/** The newest mlx-lm version in this table; newer versions may split more models. */
export const newestMlxLm = '0.32.0';

/** In these versions, no pipeline rank loads the layers that remain after an even division. */
export const lossyPipelines = `<=${newestMlxLm}`;

/** The newest exo versions in this table: the last release, and the version that a build of main declares. */
export const newestExo = { release: '1.0.71', main: '1.0.72' } as const;

const since = (version: string): string => `>=${version}`;

const always = since(oldestMlxLm);
const byTensor = { tensor: always } as const;
const both = { tensor: always, pipeline: always } as const;
const qwen35 = { tensor: always, pipeline: since('0.32.0'), repeatsKvHeads: true } as const;

const inEveryExo = '>=1.0.0';
const onMain = `>${newestExo.release}`;
const asExo = (name: string, tensor = inEveryExo) => ({ class: name, tensor });

/** Types whose class in mlx-lm has neither a method `shard` nor `model.pipeline`. */
const wholeTypes = `
Klear afm7 afmoe apertus baichuan_m1 bailing_moe bailing_moe_linear bitnet cohere cohere2 dbrx deepseek dots1 ernie4_5
ernie4_5_moe exaone exaone4 falcon_h1 gemma gemma2 gemma3 gemma3_text gemma3n glm glm4 gpt2 gpt_bigcode gpt_neox granite
granitemoe granitemoehybrid helium hunyuan hunyuan_v1_dense internlm2 internlm3 jamba kimi_linear kimi_vl lfm2-vl lfm2
lfm2_moe lille-130m llama4 llama4_text mamba mamba2 mimo mimo_v2_flash minicpm minicpm3 mistral3 mixtral nanochat
nemotron-nas nemotron olmo olmo2 olmo3 olmoe openelm phi phi3 phi3small phimoe phixtral pixtral plamo plamo2 qwen
qwen2_moe qwen2_vl qwen3_vl_moe recurrent_gemma rwkv7 seed_oss smollm3 stablelm starcoder2 telechat3 youtu_llm
llava phi-msft falcon_mamba qwen2_5_vl
`;

/**
 * The kinds of models by `model_type` in `config.json`. mlx-lm splits a model by tensor if its class has a method
 * `shard`, and as a pipeline if it has `model.pipeline`. A file may import its class from another one: `solar_open` uses
 * that of `glm4_moe`. MODEL_REMAPPING maps some types to other classes.
 *
 * @see mlx_lm/models/*.py, sharded_load and MODEL_REMAPPING in mlx_lm/utils.py of mlx-lm, read at every version from
 * 0.31.0 to 0.32.0 (d78bf58)
 * @see exo: supports_tensor in shared/models/model_cards.py at v1.0.71 and at b5375f8c
 */
export const modelTypes: Readonly<Record<string, ModelType>> = {
  ...Object.fromEntries(words(wholeTypes).map((type): [string, ModelType] => [type, { mlx: {} }])),
  deepseek_v2: { mlx: both },
  deepseek_v3: { mlx: both, exo: asExo('DeepseekV3ForCausalLM') },
  deepseek_v32: { mlx: both, exo: asExo('DeepseekV32ForCausalLM') },
  deepseek_v41: { mlx: 'unsupported' },
  deepseek_v4: { mlx: 'unsupported', exo: asExo('DeepseekV4ForCausalLM', onMain) },
  exaone_moe: { mlx: byTensor },
  gemma4: { mlx: { loads: since('0.31.2') }, exo: asExo('Gemma4ForConditionalGeneration') },
  gemma4_text: { mlx: { loads: since('0.31.2') } },
  gemma4_unified: { mlx: { loads: since('0.32.0') } },
  glm4_moe: { mlx: both },
  glm5_next: { mlx: 'unsupported' },
  glm4_moe_lite: { mlx: both, exo: asExo('Glm4MoeLiteForCausalLM') },
  glm_moe_dsa: { mlx: both, exo: asExo('GlmMoeDsaForCausalLM') },
  gpt_oss: { mlx: byTensor, exo: asExo('GptOssForCausalLM') },
  iquestcoder: { mlx: byTensor },
  iquestloopcoder: { mlx: byTensor },
  joyai_llm_flash: { mlx: both },
  kimi_k2: { mlx: both, exo: asExo('DeepseekV3ForCausalLM') },
  kimi_k25: { mlx: both },
  kimi_k3: { mlx: 'unsupported' },
  laguna: { mlx: { loads: since('0.32.0') } },
  llama: { mlx: byTensor, exo: asExo('LlamaForCausalLM') },
  longcat_flash: { mlx: byTensor },
  longcat_flash_ngram: { mlx: byTensor },
  mellum: { mlx: { loads: since('0.32.0') } },
  minimax: { mlx: byTensor },
  minimax_m2: { mlx: byTensor, exo: asExo('MiniMaxM2ForCausalLM') },
  minimax_m3: { mlx: 'unsupported' },
  ministral3: { mlx: both },
  mistral: { mlx: byTensor },
  nemotron_h: { mlx: {}, exo: asExo('NemotronHForCausalLM') },
  qwen2: { mlx: byTensor },
  qwen3: { mlx: byTensor },
  qwen3_5: { mlx: qwen35, exo: asExo('Qwen3_5ForConditionalGeneration') },
  qwen3_5_moe: { mlx: qwen35, exo: asExo('Qwen3_5MoeForConditionalGeneration') },
  qwen3_moe: { mlx: {}, exo: asExo('Qwen3MoeForCausalLM') },
  qwen3_next: { mlx: {}, exo: asExo('Qwen3NextForCausalLM') },
  qwen3_vl: { mlx: {}, exo: asExo('Qwen3VLForConditionalGeneration') },
  qwen4exp: { mlx: 'unsupported' },
  solar_open: { mlx: both },
  step3p5: { mlx: byTensor, exo: asExo('Step3p5ForCausalLM') },
};

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
