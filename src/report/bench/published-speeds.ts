import type { PublishedSpeed } from '../../model/bench.ts';

const geerling = 'https://www.jeffgeerling.com/blog/2025/15-tb-vram-on-mac-studio-rdma-over-thunderbolt-5';
const beowulf = 'https://github.com/geerlingguy/beowulf-ai-cluster/issues/17';
const rack = '2x 512 GB and 2x 256 GB M3 Ultra';
const ofRack = `two of ${rack}`;

const qwen = ['qwen3', '235b'];
const deepseek = ['deepseek', 'v3.1'];
const kimi = ['kimi', 'k2', 'thinking'];

/** What one chart of that page says: exo with RDMA beside llama.cpp over TCP, on two Macs and on four. */
function charted(
  { model, bits, words }: { readonly model: string; readonly bits: number; readonly words: readonly string[] },
  exo: readonly [two: number, four: number],
  llama: readonly [two: number, four: number],
): readonly PublishedSpeed[] {
  const row = (at: 0 | 1, name: string) => ({
    model: name,
    words,
    nodes: at === 0 ? 2 : 4,
    hardware: at === 0 ? ofRack : rack,
    source: geerling,
  });
  return ([0, 1] as const).flatMap((at): readonly PublishedSpeed[] => [
    { ...row(at, `${model}, ${bits} bit`), runtime: 'exo 1.0', transport: 'rdma', generationSpeed: exo[at] },
    { ...row(at, model), runtime: 'llama.cpp', transport: 'tcp', generationSpeed: llama[at] },
  ]);
}

/**
 * Speeds that others have published for Macs, each as its source has it; how long the prompts were, few of them say.
 *
 * @see docs/benchmarks/jeffgeerling of exo-explore/exo for the charts, and its README for the bits of those over RDMA;
 * of what llama.cpp read they say nothing
 */
export const publishedSpeeds: readonly PublishedSpeed[] = [
  ...charted({ model: 'Qwen3-235B-A22B', bits: 8, words: qwen }, [26.2, 31.9], [17.2, 15.2]),
  ...charted({ model: 'DeepSeek-V3.1 671B', bits: 8, words: deepseek }, [27.8, 32.5], [16, 14.6]),
  ...charted({ model: 'Kimi-K2-Thinking', bits: 4, words: kimi }, [21.6, 28.3], [18.5, 16.4]),
  {
    model: 'DeepSeek-R1 671B Q4_K_M (pp512, tg128)',
    words: ['deepseek', 'r1', 'q4'],
    nodes: 1,
    runtime: 'llama.cpp 7315',
    transport: 'one node',
    generationSpeed: 20.21,
    promptSpeed: 168.9,
    hardware: '512 GB M3 Ultra',
    source: beowulf,
  },
  {
    model: 'GLM-5.1-MXFP4-Q8 (reported as much too slow)',
    words: ['glm', '5.1', 'mxfp4'],
    nodes: 2,
    runtime: 'mlx-lm 0.31.2',
    transport: 'rdma',
    generationSpeed: 0.27,
    hardware: '2x 256 GB M3 Ultra',
    source: 'https://github.com/ml-explore/mlx/issues/3402',
  },
];

/** What was published for this model on so many nodes. `names` are what the model is called: in the file, at its source. */
export function publishedFor(names: readonly string[], nodes: number): readonly PublishedSpeed[] {
  const texts = names.map((name) => name.toLowerCase());
  return publishedSpeeds.filter(
    (one) => one.nodes === nodes && texts.some((text) => one.words.every((word) => text.includes(word))),
  );
}
