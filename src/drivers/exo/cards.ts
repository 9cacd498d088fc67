import type { ExoRuntime } from '../../model/desired.ts';

/**
 * The models of `mlx-community` that exo has a card for in both dialects.
 *
 * @see exo: resources/inference_model_cards at v1.0.71 and at b5375f8c (main, June 2026)
 */
const communityCards = `
DeepSeek-V3.1-4bit DeepSeek-V3.1-8bit DeepSeek-V3.2-4bit DeepSeek-V3.2-8bit GLM-4.5-Air-8bit GLM-4.5-Air-bf16
GLM-4.7-4bit GLM-4.7-6bit GLM-4.7-8bit-gs32 GLM-4.7-Flash-4bit GLM-4.7-Flash-5bit GLM-4.7-Flash-6bit
GLM-4.7-Flash-8bit GLM-5 GLM-5-8bit-MXFP8 GLM-5-MXFP4-Q8 GLM-5.1 GLM-5.1-DQ4plus-q8 GLM-5.1-MXFP4-Q8
Kimi-K2-Instruct-4bit Kimi-K2-Thinking Kimi-K2.5 Kimi-K2.6-mlx-DQ3_K_M-q8 Llama-3.1-Nemotron-70B-Instruct-HF-4bit
Llama-3.1-Nemotron-70B-Instruct-HF-8bit Llama-3.1-Nemotron-70B-Instruct-HF-bf16 Llama-3.1-Nemotron-Nano-4B-v1.1-4bit
Llama-3.1-Nemotron-Nano-4B-v1.1-8bit Llama-3.1-Nemotron-Nano-4B-v1.1-bf16 Llama-3.2-1B-Instruct-4bit
Llama-3.2-3B-Instruct-4bit Llama-3.2-3B-Instruct-8bit Llama-3.3-70B-Instruct-4bit Llama-3.3-70B-Instruct-8bit
Meta-Llama-3.1-70B-Instruct-4bit Meta-Llama-3.1-8B-Instruct-4bit Meta-Llama-3.1-8B-Instruct-8bit
Meta-Llama-3.1-8B-Instruct-bf16 MiniMax-M2.1-3bit MiniMax-M2.1-8bit MiniMax-M2.5-4bit MiniMax-M2.5-6bit
MiniMax-M2.5-8bit MiniMax-M2.7 MiniMax-M2.7-4bit MiniMax-M2.7-4bit-mxfp4 MiniMax-M2.7-5bit MiniMax-M2.7-6bit
MiniMax-M2.7-8bit NVIDIA-Nemotron-3-Nano-30B-A3B-MLX-4Bit NVIDIA-Nemotron-3-Nano-30B-A3B-MLX-5Bit
NVIDIA-Nemotron-3-Nano-30B-A3B-MLX-6Bit NVIDIA-Nemotron-3-Nano-30B-A3B-MLX-8Bit
NVIDIA-Nemotron-3-Nano-30B-A3B-MLX-BF16 NVIDIA-Nemotron-3-Nano-30B-A3B-MLX-MXFP4
NVIDIA-Nemotron-3-Nano-30B-A3B-NVFP4 NVIDIA-Nemotron-Nano-9B-v2-4bits NVIDIA-Nemotron-Nano-9B-v2-6bit
Qwen3-0.6B-4bit Qwen3-0.6B-8bit Qwen3-235B-A22B-Instruct-2507-4bit Qwen3-235B-A22B-Instruct-2507-8bit
Qwen3-30B-A3B-4bit Qwen3-30B-A3B-8bit Qwen3-Coder-480B-A35B-Instruct-4bit Qwen3-Coder-480B-A35B-Instruct-8bit
Qwen3-Coder-Next-4bit Qwen3-Coder-Next-5bit Qwen3-Coder-Next-6bit Qwen3-Coder-Next-8bit Qwen3-Coder-Next-bf16
Qwen3-Next-80B-A3B-Instruct-4bit Qwen3-Next-80B-A3B-Instruct-8bit Qwen3-Next-80B-A3B-Thinking-4bit
Qwen3-Next-80B-A3B-Thinking-8bit Qwen3-VL-4B-Instruct-4bit Qwen3.5-122B-A10B-4bit Qwen3.5-122B-A10B-6bit
Qwen3.5-122B-A10B-8bit Qwen3.5-122B-A10B-bf16 Qwen3.5-27B-4bit Qwen3.5-27B-8bit Qwen3.5-2B-MLX-8bit
Qwen3.5-35B-A3B-4bit Qwen3.5-35B-A3B-8bit Qwen3.5-397B-A17B-4bit Qwen3.5-397B-A17B-6bit Qwen3.5-397B-A17B-8bit
Qwen3.5-9B-4bit Qwen3.5-9B-8bit Qwen3.6-27B-4bit Qwen3.6-27B-8bit Qwen3.6-27B-bf16 Qwen3.6-35B-A3B-4bit
Qwen3.6-35B-A3B-5bit Qwen3.6-35B-A3B-8bit Qwen3.6-35B-A3B-bf16 Step-3.5-Flash-4bit Step-3.5-Flash-6bit
Step-3.5-Flash-8Bit gemma-4-26b-a4b-it-4bit gemma-4-26b-a4b-it-6bit gemma-4-26b-a4b-it-8bit gemma-4-26b-a4b-it-bf16
gemma-4-31b-it-4bit gemma-4-31b-it-6bit gemma-4-31b-it-8bit gemma-4-31b-it-bf16 gemma-4-e2b-it-4bit
gemma-4-e2b-it-6bit gemma-4-e2b-it-8bit gemma-4-e2b-it-bf16 gemma-4-e4b-it-4bit gemma-4-e4b-it-6bit
gemma-4-e4b-it-8bit gemma-4-e4b-it-bf16 gpt-oss-120b-MXFP4-Q8 gpt-oss-20b-MXFP4-Q8 llama-3.3-70b-instruct-fp16
`;

const cards: ReadonlySet<string> = new Set([
  ...communityCards
    .trim()
    .split(/\s+/)
    .map((name) => `mlx-community/${name}`),
  'moonshotai/Kimi-K2.6',
]);

const deepSeekV4 = ['mlx-community/DeepSeek-V4-Flash', 'mlx-community/DeepSeek-V4-Pro'];

const mainCards: ReadonlySet<string> = new Set([...cards, ...deepSeekV4, 'moonshotai/Kimi-K2.7-Code']);

/** Whether exo comes with a card for a model, by its whole name; for others it makes one from `config.json`. */
const hasCard = (repository: string, dialect: ExoRuntime['dialect']): boolean =>
  (dialect === 'main' ? mainCards : cards).has(repository);

/** Whether exo splits a model by its heads alone, so that one head of keys and values is enough. @see exo: placement.py */
export const needsNoKvHeads = (repository: string, dialect: ExoRuntime['dialect']): boolean =>
  dialect === 'main' && deepSeekV4.includes(repository);

/** Models of exo's cards with `supports_tensor = false`. */
const withoutTensor: readonly string[] = [
  'mlx-community/GLM-4.5-Air-8bit',
  'mlx-community/Qwen3-0.6B-4bit',
  'mlx-community/Qwen3-0.6B-8bit',
  'mlx-community/gemma-4-26b-a4b-it-4bit',
  'mlx-community/gemma-4-26b-a4b-it-6bit',
  'mlx-community/gemma-4-26b-a4b-it-8bit',
];

/**
 * The one class that `architectures` of a model without a card has to name for tensor sharding.
 *
 * @see exo: supports_tensor in shared/models/model_cards.py at v1.0.71 and at b5375f8c
 */
const tensorClasses: readonly string[] = [
  'Glm4MoeLiteForCausalLM',
  'GlmMoeDsaForCausalLM',
  'DeepseekV32ForCausalLM',
  'DeepseekV3ForCausalLM',
  'Qwen3NextForCausalLM',
  'Qwen3MoeForCausalLM',
  'Qwen3_5MoeForConditionalGeneration',
  'Qwen3_5ForConditionalGeneration',
  'Qwen3VLForConditionalGeneration',
  'MiniMaxM2ForCausalLM',
  'LlamaForCausalLM',
  'GptOssForCausalLM',
  'Step3p5ForCausalLM',
  'NemotronHForCausalLM',
  'Gemma4ForConditionalGeneration',
];

/** A model that exo is to split over several nodes. */
export interface ExoSplit {
  readonly repository: string;
  readonly dialect: ExoRuntime['dialect'];
  readonly sharding: 'tensor' | 'pipeline';
  /** `architectures` of its `config.json`; absent where that was not read. */
  readonly classes?: readonly string[];
}

/**
 * Why exo would refuse a split that the numbers of the model allow, as a sentence; undefined where it would not, and where
 * the architecture is not known.
 *
 * @see exo: place_instance in master/placement.py
 */
export function refusedSplit({ repository, dialect, sharding, classes }: ExoSplit): string | undefined {
  const isCarded = hasCard(repository, dialect);
  if (sharding === 'pipeline') {
    const isRefused =
      repository === 'mlx-community/DeepSeek-V3.1-8bit' ||
      (isCarded && repository.startsWith('mlx-community/gemma-4-'));
    return isRefused ? `exo refuses a pipeline for ${repository}.` : undefined;
  }
  if (withoutTensor.includes(repository)) return `exo refuses tensor sharding for ${repository}.`;
  if (isCarded || classes === undefined) return undefined;
  const [only = 'no class', ...others] = classes;
  const isKnown = tensorClasses.includes(only) || (dialect === 'main' && only === 'DeepseekV4ForCausalLM');
  if (isKnown && others.length === 0) return undefined;
  const named = [only, ...others].join(' and ');
  return `exo has no card for ${repository}, and refuses tensor sharding for the architecture ${named}.`;
}
