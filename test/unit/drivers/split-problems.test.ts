import { describe, expect, it } from 'vitest';
import {
  type AskedSplit,
  judgeSplit as judgeSplitItself,
  splitAdvice as splitAdviceItself,
} from '../../../src/drivers/fit-command.ts';
import type { ModelShape } from '../../../src/model/model-shape.ts';

import { evenShape } from '../engine/plan/fit-shapes.ts';
import { onOnePage, onPage } from '../one-page.ts';

const judgeSplit = onPage(judgeSplitItself);
const splitAdvice = onPage(splitAdviceItself);

const heads = { heads: 64, kvHeads: 8, headDim: 128, attention: { kind: 'gqa' }, dims: {} } as const;
const shapeOf = (architecture: string, count = 60, more: Partial<ModelShape> = {}): ModelShape => ({
  ...evenShape(600e9, { count, ...heads }),
  architecture,
  ...more,
});
const llama = shapeOf('llama');

/** A split by tensor on four nodes with mlx-lm 0.32.0. */
const asked = (changes: Partial<AskedSplit>): AskedSplit => ({
  driver: 'mlx',
  shape: llama,
  sharding: 'tensor',
  size: 4,
  mlxLm: '0.32.0',
  exo: '1.0.71',
  ...changes,
});

const glm = { repository: 'acme/a', shape: shapeOf('glm4_moe', 60, { classes: ['Glm4MoeForCausalLM'] }) };
const latent = { attention: { kind: 'mla', latentDim: 512, ropeDim: 64 }, kvHeads: 1 } as const;
const deepseekV4 = { repository: 'mlx-community/DeepSeek-V4-Flash', shape: shapeOf('deepseek_v4', 43, { kvHeads: 1 }) };

/** The texts of the problems and doubts are on the golden page of this file. */
describe('a model to split', () => {
  const gemma = 'mlx-community/gemma-4-31b-it-8bit';

  it.each<[string, Partial<AskedSplit>, readonly [problems: number, doubts: number]]>([
    ['is split by mlx if its class can be split', {}, [0, 0]],
    ['is never split on one node', { size: 1, shape: shapeOf('mamba') }, [0, 0]],
    ['is refused by an mlx-lm that is too old', { mlxLm: '0.30.4', size: 1 }, [1, 0]],
    ['is refused if no version can split it', { shape: shapeOf('mamba') }, [1, 0]],
    ['is doubtful with an unknown newer version', { shape: shapeOf('mamba'), mlxLm: '0.40.0' }, [0, 1]],
    [
      'is refused in an mlx pipeline that would lose a layer',
      { shape: shapeOf('deepseek_v3', 61), sharding: 'pipeline', size: 2, mlxLm: '0.31.3' },
      [1, 0],
    ],
    ['is refused if its heads do not divide', { size: 3 }, [3, 0]],
    ['is split only by whole layers with llama.cpp', { driver: 'llamacpp-rpc' }, [1, 0]],
    [
      'is refused by exo if its key-value heads do not divide, even with latent attention',
      { driver: 'exo', size: 2, shape: shapeOf('deepseek_v3', 61, latent) },
      [1, 0],
    ],
    ['is split by exo into any number of layers', { driver: 'exo', sharding: 'pipeline', size: 3 }, [0, 0]],
    [
      'is refused by exo as a pipeline if its card does not allow one',
      { driver: 'exo', sharding: 'pipeline', size: 2, repository: gemma },
      [1, 0],
    ],
    ['is refused by exo by tensor without a card or a listed architecture', { driver: 'exo', ...glm }, [1, 0]],
    ['is doubtful on an exo that is newer than the known versions', { driver: 'exo', exo: '1.2.0', ...glm }, [0, 1]],
    [
      'is split by exo main with one key-value head if it is DeepSeek V4',
      { driver: 'exo', exo: '1.0.72', ...deepseekV4 },
      [0, 0],
    ],
    ['is doubtful if mlx-lm may not know its kind', { shape: shapeOf('brand_new') }, [0, 1]],
  ])('%s', (_name, changes, counts) => {
    const { problems, doubts } = judgeSplit(asked(changes));
    expect([problems.length, doubts.length]).toEqual(counts);
  });
});

describe('the advice for a model that cannot be split', () => {
  it.each([
    ['names the node counts that work', { size: 3 }, 'Use 2, 4 or 8 nodes.'],
    [
      'also names the sharding that its class has',
      { size: 3, shape: shapeOf('ministral3') },
      'Use 2, 4 or 8 nodes, or sharding: pipeline.',
    ],
    [
      'names the node counts for the other sharding',
      { size: 2, sharding: 'pipeline', mlxLm: '0.31.3', shape: shapeOf('deepseek_v3', 61, { kvHeads: 3, heads: 3 }) },
      'Use sharding: tensor on 3 nodes.',
    ],
    [
      'names newer versions that can split it',
      { sharding: 'pipeline', mlxLm: '0.31.3', shape: shapeOf('qwen3_5', 61, { heads: 17, kvHeads: 17 }) },
      'Use a newer mlx-lm, one node, or another runtime.',
    ],
    ['names the oldest usable mlx-lm', { mlxLm: '0.30.7' }, 'Use mlx-lm 0.31.0 or newer.'],
    ['names other ways if none can split it', { shape: shapeOf('mamba') }, 'Use one node, or another runtime.'],
    [
      'names newer versions if mlx-lm has no class for it',
      { shape: shapeOf('deepseek_v4') },
      'Use a newer mlx-lm if one supports this model, or another runtime.',
    ],
    ['suggests a pipeline for llama.cpp', { driver: 'llamacpp-rpc' }, 'Use sharding: pipeline.'],
    ['names counts for exo', { driver: 'exo', size: 3 }, 'Use 2, 4 or 8 nodes, or sharding: pipeline.'],
  ] as const)('%s', (_name, changes, text) => {
    expect(splitAdvice(asked(changes))).toBe(text);
  });
});

onOnePage('split-problems');
