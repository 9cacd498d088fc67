/** What mlx-lm can do with a kind of model. The values are ranges of mlx-lm versions; an absent one means "in none". */
export interface MlxSupport {
  /** Versions that load the model at all; absent: every version in the table. */
  readonly loads?: string;
  readonly tensor?: string;
  readonly pipeline?: string;
  /** Versions that repeat key-value heads if there are more ranks than heads. */
  readonly repeatsKvHeads?: string;
}

interface MlxTable {
  /** The day on which the wheels were read. */
  readonly read: string;
  /** Every release since the oldest that meshwright accepts, oldest first. */
  readonly versions: readonly string[];
  /** In these versions, no pipeline rank loads the layers that remain after an even division. */
  readonly lossyPipelines: string;
  /** Each `model_type` that some version loads, next to those with the same support. */
  readonly kinds: readonly { readonly can: MlxSupport; readonly types: string }[];
}

/** Read from the released wheels by `npm run mlx-types` (test/mlx/model-types.py), never edited by hand. */
export const mlxTable: MlxTable = {
  read: '2026-11-28',
  versions: ['0.31.0', '0.31.1', '0.31.2', '0.31.3', '0.32.0', '0.32.1', '0.32.2'],
  lossyPipelines: '>=0.31.0 <0.32.0',
  kinds: [
    {
      can: {},
      types: `
Klear afm7 afmoe apertus baichuan_m1 bailing_moe bailing_moe_linear bitnet cohere cohere2 dbrx deepseek dots1 ernie4_5
ernie4_5_moe exaone exaone4 falcon_h1 falcon_mamba gemma gemma2 gemma3 gemma3_text gemma3n glm glm4 gpt2 gpt_bigcode
gpt_neox granite granitemoe granitemoehybrid helium hunyuan hunyuan_v1_dense internlm2 internlm3 jamba kimi_linear
kimi_vl lfm2 lfm2-vl lfm2_moe lille-130m llama4 llama4_text llava mamba mamba2 mimo mimo_v2_flash minicpm minicpm3
mistral3 mixtral nanochat nemotron nemotron-nas nemotron_h olmo olmo2 olmo3 olmoe openelm phi phi-msft phi3 phi3small
phimoe phixtral pixtral plamo plamo2 qwen qwen2_5_vl qwen2_moe qwen2_vl qwen3_vl qwen3_vl_moe recurrent_gemma rwkv7
seed_oss smollm3 stablelm starcoder2 telechat3 youtu_llm
`,
    },
    {
      can: { loads: '>=0.31.2' },
      types: 'gemma4 gemma4_text',
    },
    {
      can: { loads: '>=0.32.0' },
      types: `
bailing_moe_v3 gear gemma4_unified gptj laguna mellum muse_glimmer nanbeige olmo_hybrid plamo3 spark2_5 talkie
`,
    },
    {
      can: { loads: '>=0.32.0', pipeline: '>=0.32.0' },
      types: 'bailing_hybrid',
    },
    {
      can: { loads: '>=0.32.0', tensor: '>=0.32.0' },
      types: 'xverse',
    },
    {
      can: { loads: '>=0.32.0', tensor: '>=0.32.0', pipeline: '>=0.32.0' },
      types: 'deepseek_v41 deepseek_v41_text kimi_k3 minimax_m3_vl mistral4',
    },
    {
      can: { loads: '>=0.32.1', tensor: '>=0.32.1', pipeline: '>=0.32.1', repeatsKvHeads: '>=0.32.1' },
      types: 'prism_hadamard_qwen35',
    },
    {
      can: { loads: '>=0.32.1 <0.32.2', tensor: '>=0.32.1 <0.32.2', pipeline: '>=0.32.1 <0.32.2' },
      types: 'muse_spark_open',
    },
    {
      can: { loads: '>=0.32.2', tensor: '>=0.32.2', pipeline: '>=0.32.2' },
      types: 'muse_spark',
    },
    {
      can: { pipeline: '>=0.32.0' },
      types: 'qwen3_next',
    },
    {
      can: { tensor: '>=0.31.0' },
      types: `
exaone_moe gpt_oss iquestcoder iquestloopcoder llama longcat_flash longcat_flash_ngram minimax minimax_m2 mistral qwen3
step3p5
`,
    },
    {
      can: { tensor: '>=0.31.0', pipeline: '>=0.31.0' },
      types: `
deepseek_v2 deepseek_v3 deepseek_v32 glm4_moe glm4_moe_lite glm_moe_dsa joyai_llm_flash kimi_k2 kimi_k25 ministral3
solar_open
`,
    },
    {
      can: { tensor: '>=0.31.0', pipeline: '>=0.32.0' },
      types: 'qwen2',
    },
    {
      can: { tensor: '>=0.31.0', pipeline: '>=0.32.0', repeatsKvHeads: '>=0.31.0' },
      types: 'qwen3_5 qwen3_5_moe',
    },
    {
      can: { tensor: '>=0.32.0', pipeline: '>=0.32.0' },
      types: 'qwen3_moe',
    },
  ],
};
