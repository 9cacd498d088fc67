import type { BenchPublished } from '../../model/documents.generated.ts';

/** A published speed; with `words`, it applies only to names that contain these, too. */
export interface PublishedSpeed extends BenchPublished {
  readonly words?: readonly string[];
}

const speed = (
  [nodes, runtime, transport]: readonly [nodes: number, runtime: string, transport: PublishedSpeed['transport']],
  [generationSpeed, promptSpeed]: readonly [generation: number, prompt?: number],
  about: Pick<PublishedSpeed, 'model' | 'hardware' | 'source' | 'words'>,
): PublishedSpeed => ({
  nodes,
  runtime,
  transport,
  generationSpeed,
  ...(promptSpeed === undefined ? {} : { promptSpeed }),
  ...about,
});

const geerling = 'https://www.jeffgeerling.com/blog/2025/15-tb-vram-on-mac-studio-rdma-over-thunderbolt-5';
const rack = '2x 512 GB and 2x 256 GB M3 Ultra';

/**
 * One chart on that page: exo over RDMA and llama.cpp over TCP, on two and on four Macs. The bits of the llama.cpp
 * models are not documented.
 *
 * @see docs/benchmarks/jeffgeerling of exo-explore/exo for the charts, and its README for the exo models' bits
 */
function charted(
  model: string,
  exoBits: number,
  exo: readonly [two: number, four: number],
  llama: readonly [two: number, four: number],
): readonly PublishedSpeed[] {
  return ([0, 1] as const).flatMap((at) => {
    const about = { hardware: at === 0 ? `two of ${rack}` : rack, source: geerling };
    const nodes = at === 0 ? 2 : 4;
    return [
      speed([nodes, 'exo 1.0', 'rdma'], [exo[at]], { ...about, model: `${model}, ${exoBits} bit` }),
      speed([nodes, 'llama.cpp', 'tcp'], [llama[at]], { ...about, model }),
    ];
  });
}

const exo1468 = 'https://github.com/exo-explore/exo/issues/1468';
const ds4Pull = 'https://github.com/antirez/ds4/pull/1090';
const exo2070 = 'https://github.com/exo-explore/exo/issues/2070';

/** Published speeds by the model's name in the list of known models. */
export const publishedSpeeds: Readonly<Record<string, readonly PublishedSpeed[]>> = {
  'Kimi-K2.6': [
    speed([4, 'LM Studio', 'rdma'], [28], {
      model: 'Kimi-K2.6 (demonstration at WWDC26)',
      hardware: '4x M3 Ultra',
      source: 'https://www.aibase.com/news/29050',
    }),
  ],
  'Kimi-K2-Thinking': charted('Kimi-K2-Thinking', 4, [21.6, 28.3], [18.5, 16.4]),
  'DeepSeek-V4.1-Flash': [
    speed([1, 'ds4', 'one node'], [28.9, 283], {
      model: 'DeepSeek-V4.1-Flash Q4 (483 GiB on disk, 294 GiB in memory), 512 tokens of context',
      hardware: 'M3 Ultra',
      source: ds4Pull,
    }),
  ],
  'DeepSeek-V3.1': charted('DeepSeek-V3.1 671B', 8, [27.8, 32.5], [16, 14.6]),
  'DeepSeek-R1': [
    speed([1, 'llama.cpp 7315', 'one node'], [20.21, 168.9], {
      model: 'DeepSeek-R1 671B Q4_K_M (pp512, tg128)',
      words: ['q4'],
      hardware: '512 GB M3 Ultra',
      source: 'https://github.com/geerlingguy/beowulf-ai-cluster/issues/17',
    }),
  ],
  'GLM-5.3-Flash': [
    speed([1, 'ds4', 'one node'], [26.6], {
      model: 'GLM-5.3-Flash Q4_K (178 GiB), 8k of context',
      hardware: 'M3 Ultra',
      source: ds4Pull,
    }),
  ],
  'GLM-5.1': [
    speed([2, 'mlx-lm 0.31.2', 'rdma'], [0.27], {
      model: 'GLM-5.1-MXFP4-Q8 (reported as much too slow)',
      words: ['mxfp4'],
      hardware: '2x 256 GB M3 Ultra',
      source: 'https://github.com/ml-explore/mlx/issues/3402',
    }),
  ],
  'GLM-5': (
    [
      [2, 18.3, undefined, 'without context'],
      [2, 16.7, 233, '10k of context'],
      [2, 12.5, 127, '50k of context'],
      [4, 23.7, undefined, 'without context'],
      [4, 21.3, 363, '10k of context'],
    ] as const
  ).map(([nodes, generation, prompt, context]) =>
    speed([nodes, 'exo', 'rdma'], prompt === undefined ? [generation] : [generation, prompt], {
      model: `GLM-5-8bit-MXFP8, ${context}`,
      words: ['8bit'],
      hardware: `${nodes}x 512 GB M3 Ultra`,
      source: exo1468,
    }),
  ),
  'Qwen3-235B-A22B': charted('Qwen3-235B-A22B', 8, [26.2, 31.9], [17.2, 15.2]),
  'gpt-oss-120b': [
    speed([1, 'exo 1.0.71', 'one node'], [89], { model: 'gpt-oss-120b', hardware: '128 GB M5 Max', source: exo2070 }),
    speed([2, 'exo 1.0.71, pipeline', 'tcp'], [68], {
      model: 'gpt-oss-120b',
      hardware: '2x 128 GB M5 Max',
      source: exo2070,
    }),
    speed([2, 'exo 1.0.71, tensor', 'rdma'], [48], {
      model: 'gpt-oss-120b (reported as too slow)',
      hardware: '2x 128 GB M5 Max',
      source: exo2070,
    }),
  ],
};
