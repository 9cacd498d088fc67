import { inRange } from '../../desired/version-range.ts';
import { newestExo, words } from './model-types.ts';

/** The newest commit of exo in this table. */
export const exoCommit = 'b5375f8cee4368d09e1ce96a56b9f81fb0bc81aa';

/** A model that exo ships a card for. For other models, exo derives a card from `config.json`. */
export interface ExoCard {
  /** The exo versions with this card. */
  readonly versions: string;
  /** Set if exo refuses tensor sharding: the card has `supports_tensor = false`. */
  readonly noTensor?: true;
  /** Set if exo refuses a pipeline over several nodes. */
  readonly noPipeline?: true;
  /** Set if exo splits the model only by its heads, so that one key-value head is enough. */
  readonly wholeKvHeads?: true;
}

/** Models of `mlx-community` for which the release and main have a card. */
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

const withoutTensor = words(`
GLM-4.5-Air-8bit Qwen3-0.6B-4bit Qwen3-0.6B-8bit gemma-4-26b-a4b-it-4bit gemma-4-26b-a4b-it-6bit
gemma-4-26b-a4b-it-8bit
`);

const hasNoPipeline = (name: string): boolean => name === 'DeepSeek-V3.1-8bit' || name.startsWith('gemma-4-');

const everywhere = '>=1.0.0';
const onMain = `>${newestExo.release}`;

/**
 * The cards by repository.
 *
 * @see exo: resources/inference_model_cards and place_instance in master/placement.py, at v1.0.71 and at b5375f8c
 * (main, June 2026)
 */
const exoCards: ReadonlyMap<string, ExoCard> = new Map<string, ExoCard>([
  ...words(communityCards).map((name): [string, ExoCard] => [
    `mlx-community/${name}`,
    {
      versions: everywhere,
      ...(withoutTensor.includes(name) ? { noTensor: true } : {}),
      ...(hasNoPipeline(name) ? { noPipeline: true } : {}),
    },
  ]),
  ['mlx-community/DeepSeek-V4-Flash', { versions: onMain, wholeKvHeads: true }],
  ['mlx-community/DeepSeek-V4-Pro', { versions: onMain, wholeKvHeads: true }],
  ['moonshotai/Kimi-K2.6', { versions: everywhere }],
  ['moonshotai/Kimi-K2.7-Code', { versions: onMain }],
]);

/** The card that an exo version has for a repository. */
export function exoCard(repository: string, version: string): ExoCard | undefined {
  const card = exoCards.get(repository);
  return card !== undefined && inRange(version, card.versions) ? card : undefined;
}
