/** The members of a model's `config.json` that determine its shape. */
export type PublishedConfig = Readonly<Record<string, number | string | readonly string[]>>;

const latent = { kv_lora_rank: 512, qk_rope_head_dim: 64 } as const;

export const deepSeekV3 = {
  ...latent,
  architectures: ['DeepseekV3ForCausalLM'],
  num_hidden_layers: 61,
  hidden_size: 7_168,
  num_attention_heads: 128,
  num_key_value_heads: 128,
  q_lora_rank: 1_536,
  n_routed_experts: 256,
  intermediate_size: 18_432,
  moe_intermediate_size: 2_048,
  vocab_size: 129_280,
  max_position_embeddings: 163_840,
} as const;

export const kimi = {
  ...deepSeekV3,
  num_attention_heads: 64,
  num_key_value_heads: 64,
  n_routed_experts: 384,
  vocab_size: 163_840,
  max_position_embeddings: 262_144,
} as const;

export const glm5 = {
  ...latent,
  architectures: ['GlmMoeDsaForCausalLM'],
  num_hidden_layers: 78,
  hidden_size: 6_144,
  num_attention_heads: 64,
  num_key_value_heads: 64,
  q_lora_rank: 2_048,
  n_routed_experts: 256,
  intermediate_size: 12_288,
  moe_intermediate_size: 2_048,
  vocab_size: 154_880,
  max_position_embeddings: 202_752,
} as const;

export const qwen3Moe = {
  architectures: ['Qwen3MoeForCausalLM'],
  head_dim: 128,
  vocab_size: 151_936,
  max_position_embeddings: 262_144,
} as const;

/** Every fourth layer has full attention; the others keep a state of fixed size. */
const hybrid = {
  head_dim: 256,
  full_attention_interval: 4,
  linear_num_key_heads: 16,
  linear_key_head_dim: 128,
  linear_value_head_dim: 128,
  linear_conv_kernel_dim: 4,
  max_position_embeddings: 262_144,
} as const;

export const qwen35Moe = {
  ...hybrid,
  architectures: ['Qwen3_5MoeForConditionalGeneration'],
  num_attention_heads: 32,
  num_key_value_heads: 2,
  linear_num_value_heads: 64,
  moe_intermediate_size: 1_024,
  shared_expert_intermediate_size: 1_024,
  vocab_size: 248_320,
} as const;

export const qwen27 = {
  ...hybrid,
  architectures: ['Qwen3_5ForConditionalGeneration'],
  num_hidden_layers: 64,
  hidden_size: 5_120,
  num_attention_heads: 24,
  num_key_value_heads: 4,
  linear_num_value_heads: 48,
  intermediate_size: 17_408,
  vocab_size: 248_320,
} as const;

export const qwenNext = {
  ...hybrid,
  architectures: ['Qwen3NextForCausalLM'],
  num_hidden_layers: 48,
  hidden_size: 2_048,
  num_attention_heads: 16,
  num_key_value_heads: 2,
  linear_num_value_heads: 32,
  num_experts: 512,
  moe_intermediate_size: 512,
  shared_expert_intermediate_size: 512,
  vocab_size: 151_936,
} as const;

export const miniMax = {
  architectures: ['MiniMaxM2ForCausalLM'],
  num_hidden_layers: 62,
  hidden_size: 3_072,
  num_attention_heads: 48,
  num_key_value_heads: 8,
  head_dim: 128,
  num_local_experts: 256,
  intermediate_size: 1_536,
  vocab_size: 200_064,
  max_position_embeddings: 196_608,
} as const;

export const deepSeekV4 = {
  architectures: ['DeepseekV4ForCausalLM'],
  num_key_value_heads: 1,
  head_dim: 512,
  vocab_size: 129_280,
  max_position_embeddings: 1_048_576,
} as const;
