import { given } from '../../model/given.ts';
import {
  deepSeekV3,
  deepSeekV4,
  glm5,
  kimi,
  miniMax,
  type PublishedConfig,
  qwen3Moe,
  qwen27,
  qwen35Moe,
  qwenNext,
} from './configs.ts';
import { exoCommit } from './exo-cards.ts';

/** One quantization of a model. */
export interface PublishedBuild {
  readonly repository: string;
  /** Total bytes of the weights. */
  readonly bytes: number;
  /** Set if the source gives only whole GB. */
  readonly isRounded?: true;
  /** mlx's quantization; absent for weights in another format. */
  readonly quantization?: { readonly bits: number; readonly group: number };
  readonly source: string;
}

/** A model that owners of Mac clusters run. Sizes of a model in a cluster file never come from here. */
export interface KnownModel {
  readonly name: string;
  /** More names for `fit`. */
  readonly aliases?: readonly string[];
  /** A name in a file means this model if it has all these words between its separators. */
  readonly words: readonly string[];
  /** `model_type` in `config.json`; absent if not published. */
  readonly type?: string;
  /** Total parameters, and active ones per token for a mixture of experts. */
  readonly parameters: readonly [total: string, active?: string];
  readonly source: string;
  /** Absent if too little is published to calculate memory. */
  readonly config?: PublishedConfig;
  /** The first one is the default of `fit`. */
  readonly builds?: readonly PublishedBuild[];
  /** Other programs that run the model, usable with the driver `command`. */
  readonly others?: string;
  /** Set if no llama.cpp release runs the model; otherwise llama.cpp is unknown or splits it by layers. */
  readonly llamaCpp?: 'layers' | 'none';
}

const hub = (repository: string): string => `https://huggingface.co/${repository}`;

const wordsOf = (name: string): readonly string[] =>
  name
    .toLowerCase()
    .split('-')
    .filter((word) => !/^a\d+b$/.test(word));

/** A model on Hugging Face. Its words are usually those of the name without the active parameters. */
function onHub(
  repository: string,
  {
    name = repository.replace(/^.*\//, ''),
    aliases,
    words = wordsOf(name),
    type,
    parameters,
    ...more
  }: Omit<KnownModel, 'name' | 'words' | 'source'> & Partial<Pick<KnownModel, 'name' | 'words'>>,
): KnownModel {
  return { name, ...given({ aliases }), words, ...given({ type }), parameters, source: hub(repository), ...more };
}

const exoCards = `https://github.com/exo-explore/exo/tree/${exoCommit}/resources/inference_model_cards`;
/** An older list has sizes that newer cards round. */
const oldExoCards =
  'https://github.com/exo-explore/exo/blob/631cb81009b5ceda32b23b9758039934d39dcbe5/src/exo/shared/models/model_cards.py';

const bits = (count: number, group = 64) => ({ bits: count, group });

const build = (
  repository: string,
  bytes: number,
  quantization?: PublishedBuild['quantization'],
  source = exoCards,
): PublishedBuild => ({ repository, bytes, ...(quantization === undefined ? {} : { quantization }), source });

/** A build whose size is only known in GB. */
const rounded = (
  repository: string,
  gigabytes: number,
  quantization: PublishedBuild['quantization'],
): PublishedBuild => ({ ...build(repository, gigabytes * 1e9, quantization), isRounded: true });

const ds4Pull = 'https://github.com/antirez/ds4/pull/1090';

/** Newest first within each family. Each `config` has the values of `config.json` in the repository of `source`. */
export const knownModels: readonly KnownModel[] = [
  {
    name: 'Kimi-K3',
    words: ['kimi', 'k3'],
    type: 'kimi_k3',
    parameters: ['2.8T', '104B'],
    source: 'https://github.com/ml-explore/mlx-lm/pull/1626',
    llamaCpp: 'none',
  },
  onHub('moonshotai/Kimi-K2.7-Code', {
    words: ['kimi', 'k2.7'],
    type: 'kimi_k25',
    parameters: ['1T', '32B'],
    config: kimi,
    builds: [build('moonshotai/Kimi-K2.7-Code', 595_204_986_173)],
  }),
  onHub('moonshotai/Kimi-K2.6', {
    type: 'kimi_k25',
    parameters: ['1T', '32B'],
    config: kimi,
    builds: [
      build('moonshotai/Kimi-K2.6', 595_148_192_736),
      build('mlx-community/Kimi-K2.6-mlx-DQ3_K_M-q8', 470_628_683_776, bits(3)),
    ],
    others: 'LM Studio',
  }),
  onHub('moonshotai/Kimi-K2.5', {
    type: 'kimi_k25',
    parameters: ['1T', '32B'],
    config: kimi,
    builds: [rounded('mlx-community/Kimi-K2.5', 617, bits(4, 32))],
  }),
  onHub('moonshotai/Kimi-K2-Thinking', {
    aliases: ['Kimi-K2'],
    type: 'kimi_k2',
    parameters: ['1T', '32B'],
    config: kimi,
    builds: [rounded('mlx-community/Kimi-K2-Thinking', 658, bits(4, 32))],
  }),
  onHub('moonshotai/Kimi-K2-Instruct', {
    type: 'kimi_k2',
    parameters: ['1T', '32B'],
    config: { ...kimi, max_position_embeddings: 131_072 },
    builds: [build('mlx-community/Kimi-K2-Instruct-4bit', 577_597_603_840, bits(4), oldExoCards)],
  }),
  {
    name: 'DeepSeek-V4.1-Flash',
    words: ['deepseek', 'v4.1', 'flash'],
    type: 'deepseek_v41',
    parameters: ['not published'],
    source: ds4Pull,
    others: 'ds4, oMLX',
  },
  onHub('deepseek-ai/DeepSeek-V4-Flash', {
    type: 'deepseek_v4',
    parameters: ['284B', '13B'],
    config: {
      ...deepSeekV4,
      num_hidden_layers: 43,
      hidden_size: 4_096,
      num_attention_heads: 64,
      n_routed_experts: 256,
      moe_intermediate_size: 2_048,
    },
    builds: [build('mlx-community/DeepSeek-V4-Flash', 155_095_760_030)],
    others: 'ds4, oMLX',
    llamaCpp: 'layers',
  }),
  onHub('deepseek-ai/DeepSeek-V4-Pro', {
    type: 'deepseek_v4',
    parameters: ['1.6T', '49B'],
    builds: [build('mlx-community/DeepSeek-V4-Pro', 849_681_803_879)],
  }),
  onHub('deepseek-ai/DeepSeek-V3.2', {
    type: 'deepseek_v32',
    parameters: ['685B', '37B'],
    config: { ...deepSeekV3, architectures: ['DeepseekV32ForCausalLM'] },
    builds: [
      build('mlx-community/DeepSeek-V3.2-4bit', 378_086_226_621, bits(4)),
      build('mlx-community/DeepSeek-V3.2-8bit', 755_957_120_916, bits(8)),
    ],
  }),
  onHub('deepseek-ai/DeepSeek-V3.1', {
    type: 'deepseek_v3',
    parameters: ['671B', '37B'],
    config: deepSeekV3,
    builds: [
      rounded('mlx-community/DeepSeek-V3.1-4bit', 378, bits(4)),
      rounded('mlx-community/DeepSeek-V3.1-8bit', 713, bits(8)),
    ],
    llamaCpp: 'layers',
  }),
  onHub('deepseek-ai/DeepSeek-R1', {
    type: 'deepseek_v3',
    parameters: ['671B', '37B'],
    config: deepSeekV3,
    builds: [build('mlx-community/DeepSeek-R1-0528-8bit', 754_998_771_712, bits(8), oldExoCards)],
    llamaCpp: 'layers',
  }),
  {
    name: 'GLM-5.3-Flash',
    words: ['glm', '5.3', 'flash'],
    type: 'glm5_next',
    parameters: ['321B', '18B'],
    source: ds4Pull,
    others: 'ds4, oMLX',
  },
  onHub('zai-org/GLM-5.1', {
    type: 'glm_moe_dsa',
    parameters: ['744B', '40B'],
    config: glm5,
    builds: [
      build('mlx-community/GLM-5.1-MXFP4-Q8', 405_480_321_024, bits(4, 32)),
      build('mlx-community/GLM-5.1-DQ4plus-q8', 465_173_655_552, bits(4)),
    ],
  }),
  onHub('zai-org/GLM-5', {
    type: 'glm_moe_dsa',
    parameters: ['744B', '40B'],
    config: glm5,
    builds: [
      build('mlx-community/GLM-5-8bit-MXFP8', 790_517_400_864, bits(8, 32)),
      build('mlx-community/GLM-5-MXFP4-Q8', 405_478_939_008, bits(4, 32)),
    ],
  }),
  onHub('zai-org/GLM-4.7', {
    type: 'glm4_moe',
    parameters: ['355B', '32B'],
    config: {
      architectures: ['Glm4MoeForCausalLM'],
      num_hidden_layers: 92,
      hidden_size: 5_120,
      num_attention_heads: 96,
      num_key_value_heads: 8,
      head_dim: 128,
      n_routed_experts: 160,
      intermediate_size: 12_288,
      moe_intermediate_size: 1_536,
      vocab_size: 151_552,
      max_position_embeddings: 202_752,
    },
    builds: [
      build('mlx-community/GLM-4.7-4bit', 198_556_925_568, bits(4)),
      build('mlx-community/GLM-4.7-8bit-gs32', 396_963_397_248, bits(8, 32)),
    ],
  }),
  {
    name: 'Qwen3.8-Flash-Next',
    words: ['qwen3.8', 'flash', 'next'],
    type: 'qwen4exp',
    parameters: ['not published'],
    source: 'https://github.com/ml-explore/mlx-lm',
    others: 'ds4, oMLX',
  },
  onHub('Qwen/Qwen3.6-27B', {
    type: 'qwen3_5',
    parameters: ['27B'],
    config: qwen27,
    builds: [
      build('mlx-community/Qwen3.6-27B-4bit', 16_054_262_240, bits(4)),
      build('mlx-community/Qwen3.6-27B-8bit', 29_500_938_720, bits(8)),
    ],
  }),
  onHub('Qwen/Qwen3.5-397B-A17B', {
    type: 'qwen3_5_moe',
    parameters: ['397B', '17B'],
    config: { ...qwen35Moe, num_hidden_layers: 60, hidden_size: 4_096, num_experts: 512 },
    builds: [
      build('mlx-community/Qwen3.5-397B-A17B-4bit', 223_860_768_352, bits(4)),
      build('mlx-community/Qwen3.5-397B-A17B-8bit', 422_032_580_192, bits(8)),
    ],
  }),
  onHub('Qwen/Qwen3.5-122B-A10B', {
    type: 'qwen3_5_moe',
    parameters: ['122B', '10B'],
    config: { ...qwen35Moe, num_hidden_layers: 48, hidden_size: 3_072, num_experts: 256 },
    builds: [
      build('mlx-community/Qwen3.5-122B-A10B-4bit', 69_593_314_272, bits(4)),
      build('mlx-community/Qwen3.5-122B-A10B-8bit', 130_648_036_320, bits(8)),
    ],
  }),
  onHub('Qwen/Qwen3-Coder-480B-A35B-Instruct', {
    name: 'Qwen3-Coder-480B-A35B',
    type: 'qwen3_moe',
    parameters: ['480B', '35B'],
    config: {
      ...qwen3Moe,
      num_hidden_layers: 62,
      hidden_size: 6_144,
      num_attention_heads: 96,
      num_key_value_heads: 8,
      num_experts: 160,
      intermediate_size: 8_192,
      moe_intermediate_size: 2_560,
    },
    builds: [
      rounded('mlx-community/Qwen3-Coder-480B-A35B-Instruct-4bit', 270, bits(4)),
      rounded('mlx-community/Qwen3-Coder-480B-A35B-Instruct-8bit', 540, bits(8)),
    ],
  }),
  onHub('Qwen/Qwen3-235B-A22B', {
    type: 'qwen3_moe',
    parameters: ['235B', '22B'],
    config: {
      ...qwen3Moe,
      num_hidden_layers: 94,
      hidden_size: 4_096,
      num_attention_heads: 64,
      num_key_value_heads: 4,
      num_experts: 128,
      intermediate_size: 12_288,
      moe_intermediate_size: 1_536,
    },
    builds: [
      rounded('mlx-community/Qwen3-235B-A22B-Instruct-2507-4bit', 132, bits(4)),
      rounded('mlx-community/Qwen3-235B-A22B-Instruct-2507-8bit', 250, bits(8)),
    ],
    llamaCpp: 'layers',
  }),
  onHub('Qwen/Qwen3-Coder-Next', {
    type: 'qwen3_next',
    parameters: ['80B', '3B'],
    config: qwenNext,
    builds: [
      build('mlx-community/Qwen3-Coder-Next-4bit', 45_644_286_500, bits(4)),
      build('mlx-community/Qwen3-Coder-Next-8bit', 89_357_758_772, bits(8)),
    ],
  }),
  {
    name: 'MiniMax-M3',
    words: ['minimax', 'm3'],
    type: 'minimax_m3_vl',
    parameters: ['not published'],
    source: 'https://github.com/ml-explore/mlx-lm',
    others: 'vMLX',
  },
  onHub('MiniMaxAI/MiniMax-M2.7', {
    type: 'minimax_m2',
    parameters: ['230B', '10B'],
    config: miniMax,
    builds: [
      build('mlx-community/MiniMax-M2.7-4bit', 128_682_598_717, bits(4)),
      build('mlx-community/MiniMax-M2.7-8bit', 243_002_680_786, bits(8)),
    ],
  }),
  onHub('openai/gpt-oss-120b', {
    type: 'gpt_oss',
    parameters: ['117B', '5B'],
    config: {
      architectures: ['GptOssForCausalLM'],
      num_hidden_layers: 36,
      hidden_size: 2_880,
      num_attention_heads: 64,
      num_key_value_heads: 8,
      head_dim: 64,
      num_local_experts: 128,
      intermediate_size: 2_880,
      vocab_size: 201_088,
      max_position_embeddings: 131_072,
    },
    builds: [build('mlx-community/gpt-oss-120b-MXFP4-Q8', 70_652_212_224, bits(4, 32))],
    llamaCpp: 'layers',
  }),
  onHub('meta-llama/Llama-3.3-70B-Instruct', {
    name: 'Llama-3.3-70B',
    type: 'llama',
    parameters: ['70B'],
    config: {
      architectures: ['LlamaForCausalLM'],
      num_hidden_layers: 80,
      hidden_size: 8_192,
      num_attention_heads: 64,
      num_key_value_heads: 8,
      head_dim: 128,
      intermediate_size: 28_672,
      vocab_size: 128_256,
      max_position_embeddings: 131_072,
    },
    builds: [
      build('mlx-community/Llama-3.3-70B-Instruct-4bit', 38_758_160 * 1_024, bits(4), oldExoCards),
      build('mlx-community/Llama-3.3-70B-Instruct-8bit', 77_516_320 * 1_024, bits(8), oldExoCards),
    ],
    llamaCpp: 'layers',
  }),
  onHub('google/gemma-4-31b-it', {
    name: 'Gemma-4-31B',
    type: 'gemma4',
    parameters: ['31B'],
    builds: [
      build('mlx-community/gemma-4-31b-it-4bit', 18_411_755_224, bits(4)),
      build('mlx-community/gemma-4-31b-it-8bit', 33_762_858_712, bits(8)),
    ],
  }),
  onHub('stepfun-ai/Step-3.5-Flash', {
    type: 'step3p5',
    parameters: ['196B', '11B'],
    builds: [
      build('mlx-community/Step-3.5-Flash-4bit', 114_572_190_076, bits(4)),
      build('mlx-community/Step-3.5-Flash-8Bit', 209_082_699_847, bits(8)),
    ],
  }),
];
