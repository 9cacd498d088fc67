import { describe, expect, it } from 'vitest';
import {
  type AskedSplit,
  judgeSplit as judgeSplitItself,
  splitAdvice as splitAdviceItself,
} from '../../../src/drivers/judge-model-fit.ts';
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

describe('a model to split', () => {
  const cases: readonly (readonly [string, Partial<AskedSplit>, readonly string[], readonly string[]])[] = [
    ['is split by mlx if its class can be split', {}, [], []],
    ['is never split on one node', { size: 1, shape: shapeOf('mamba') }, [], []],
    [
      'is refused by an mlx-lm that is too old',
      { mlxLm: '0.30.4', size: 1 },
      ['mlx-lm 0.30.4 is too old; at least 0.31.0 is needed.'],
      [],
    ],
    [
      'is refused if no version can split it',
      { shape: shapeOf('mamba') },
      ['mlx-lm 0.32.0 cannot split mamba models by tensor.'],
      [],
    ],
    [
      'is doubtful with a version newer than the known versions',
      { shape: shapeOf('mamba'), mlxLm: '0.40.0' },
      [],
      ['mlx-lm up to 0.32.0 cannot split mamba models by tensor; newer versions may.'],
    ],
    [
      'is refused in an mlx pipeline that would lose a layer',
      { shape: shapeOf('deepseek_v3', 61), sharding: 'pipeline', size: 2 },
      ['mlx-lm 0.32.0 would load layer 30 of 61 on none of 2 nodes, without an error.'],
      [],
    ],
    [
      'is refused if its heads do not divide',
      { size: 3 },
      [
        'Its 64 heads are not divisible by 3.',
        'Its 8 key and value heads are not divisible by 3.',
        'Its attention width of 8192 is not divisible by 3.',
      ],
      [],
    ],
    [
      'is split only by whole layers with llama.cpp',
      { driver: 'llamacpp-rpc' },
      ['llama.cpp splits models only by whole layers.'],
      [],
    ],
    [
      'is refused by exo if its key-value heads do not divide, even with latent attention',
      {
        driver: 'exo',
        size: 2,
        shape: shapeOf('deepseek_v3', 61, { attention: { kind: 'mla', latentDim: 512, ropeDim: 64 }, kvHeads: 1 }),
      },
      ['exo cannot split it: its number of key-value heads (1) is not divisible by 2.'],
      [],
    ],
    ['is split by exo into any number of layers', { driver: 'exo', sharding: 'pipeline', size: 3 }, [], []],
    [
      'is refused by exo as a pipeline if its card does not allow one',
      { driver: 'exo', sharding: 'pipeline', size: 2, repository: 'mlx-community/gemma-4-31b-it-8bit' },
      ['exo refuses a pipeline for mlx-community/gemma-4-31b-it-8bit.'],
      [],
    ],
    [
      'is refused by exo by tensor if it has no card and its architecture is not on the list',
      { driver: 'exo', repository: 'acme/a', shape: shapeOf('glm4_moe', 60, { classes: ['Glm4MoeForCausalLM'] }) },
      ['exo has no card for acme/a, and refuses tensor sharding for the architecture Glm4MoeForCausalLM.'],
      [],
    ],
    [
      'is doubtful on an exo that is newer than the known versions',
      {
        driver: 'exo',
        exo: '1.2.0',
        repository: 'acme/a',
        shape: shapeOf('glm4_moe', 60, { classes: ['Glm4MoeForCausalLM'] }),
      },
      [],
      ['exo up to 1.0.72 refuses tensor sharding for the architecture Glm4MoeForCausalLM; newer versions may not.'],
    ],
    [
      'is split by exo main with one key-value head if it is DeepSeek V4',
      {
        driver: 'exo',
        exo: '1.0.72',
        repository: 'mlx-community/DeepSeek-V4-Flash',
        shape: shapeOf('deepseek_v4', 43, { kvHeads: 1 }),
      },
      [],
      [],
    ],
    [
      'is doubtful if mlx-lm may not know its kind',
      { shape: shapeOf('brand_new') },
      [],
      ['meshwright does not know brand_new models, so mlx-lm 0.32.0 may not be able to split them.'],
    ],
  ];
  it.each(cases)('%s', (_name, changes, problems, doubts) => {
    expect(judgeSplit(asked(changes))).toEqual({ problems, doubts });
  });
});

describe('the advice for a model that cannot be split', () => {
  it.each([
    ['names the node counts that work', { size: 3 }, 'Use 2, 4 or 8 nodes.'],
    [
      "names this class's other sharding",
      { size: 3, shape: shapeOf('ministral3') },
      'Use 2, 4 or 8 nodes, or sharding: pipeline.',
    ],
    [
      'names the node counts for the other sharding',
      { size: 2, sharding: 'pipeline', shape: shapeOf('deepseek_v3', 61, { kvHeads: 3, heads: 3 }) },
      'Use sharding: tensor on 3 nodes.',
    ],
    [
      'suggests a newer version if that can split the model',
      { sharding: 'pipeline', mlxLm: '0.31.3', shape: shapeOf('qwen3_5', 61, { heads: 17, kvHeads: 17 }) },
      'Use a newer mlx-lm, one node, or another runtime.',
    ],
    ['names the oldest usable mlx-lm', { mlxLm: '0.30.7' }, 'Use mlx-lm 0.31.0 or newer.'],
    [
      'suggests one node or a different runtime if no version can split the model',
      { shape: shapeOf('mamba') },
      'Use one node, or another runtime.',
    ],
    [
      'suggests a newer version or a different runtime if mlx-lm has no class for the model',
      { shape: shapeOf('kimi_k3') },
      'Use a newer mlx-lm if one supports this model, or another runtime.',
    ],
    ['suggests a pipeline for llama.cpp', { driver: 'llamacpp-rpc' }, 'Use sharding: pipeline.'],
    [
      'names the node counts that divide the heads for exo',
      { driver: 'exo', size: 3 },
      'Use 2, 4 or 8 nodes, or sharding: pipeline.',
    ],
  ] as const)('%s', (_name, changes, text) => {
    expect(splitAdvice(asked(changes))).toBe(text);
  });
});

onOnePage('split-problems');
