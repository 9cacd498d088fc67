import { describe, expect, it } from 'vitest';
import { isBelow, lowestIn } from '../../../../src/desired/version-range.ts';
import type { RankSplit } from '../../../../src/drivers/contract/split.ts';
import { modelTypes, newestMlxLm } from '../../../../src/drivers/known/model-types.ts';
import type { MlxSupport } from '../../../../src/drivers/known/tables.ts';
import { lostLayers, splitProblems } from '../../../../src/drivers/mlx/shards.ts';
import type { ModelShape } from '../../../../src/model/model-shape.ts';
import { evenShape } from '../../engine/plan/fit-shapes.ts';

const layers = (count: number): ModelShape['layers'] =>
  Array.from({ length: count }, () => ({ bytes: 1, sharded: 1, cachePerToken: 1 }));

const heads = { hidden: 8192, heads: 64, kvHeads: 8, headDim: 128, attention: { kind: 'gqa' } } as const;
const llama: ModelShape = {
  ...evenShape(80, { ...heads, count: 80, dims: { intermediate: 28_672 } }),
  architecture: 'llama',
  quant: { bits: 4, group: 64 },
};

const kimi: ModelShape = {
  ...llama,
  architecture: 'kimi_k2',
  kvHeads: 64,
  attention: { kind: 'mla', latentDim: 512, ropeDim: 64 },
  dims: { moeIntermediate: 2048 },
  layers: layers(61),
};

const split = (more: Partial<RankSplit> = {}): RankSplit => ({
  shape: llama,
  sharding: 'tensor',
  size: 4,
  mlxLm: '0.31.3',
  exo: '1.0.71',
  ...more,
});

const kindsOf = (one: RankSplit): readonly string[] => splitProblems(one).map(({ kind }) => kind);

describe('a model split by tensor', () => {
  it.each([
    [1, []],
    [2, []],
    [3, ['not-divisible']],
    [4, []],
    [6, ['not-divisible']],
    [8, []],
  ])('has these problems on %d nodes: %j', (size, expected) => {
    expect([...new Set(kindsOf(split({ size })))]).toEqual(expected);
  });

  it('may repeat key and value heads if its class does so', () => {
    const few = { ...llama, kvHeads: 2 };
    expect(kindsOf(split({ shape: few }))).toEqual(['not-divisible']);
    expect(kindsOf(split({ shape: { ...few, architecture: 'qwen3_5' } }))).toEqual([]);
    expect(kindsOf(split({ shape: { ...few, architecture: 'qwen3_5', heads: 66, dims: {} }, size: 3 }))).toContain(
      'not-divisible',
    );
  });
});

describe('an mlx-lm version', () => {
  const supported = Object.entries(modelTypes).flatMap(([architecture, { mlx }]): [string, MlxSupport][] =>
    mlx === undefined || mlx === 'unsupported' ? [] : [[architecture, mlx]],
  );

  it.each(
    supported.flatMap(([architecture, mlx]) =>
      (['tensor', 'pipeline'] as const).map((sharding) => ({ architecture, sharding, range: mlx[sharding] })),
    ),
  )('splits $architecture by $sharding in the versions $range', ({ architecture, sharding, range }) => {
    const shape = { ...llama, architecture };
    const of = (version: string) => kindsOf(split({ shape, sharding, mlxLm: version }));
    expect(of(range === undefined ? newestMlxLm : lowestIn(range))).toEqual(range === undefined ? ['no-way'] : []);
    expect(of('0.30.7')).toEqual(['too-old']);
  });

  it('splits a model like the one whose class it imports', () => {
    expect(modelTypes['solar_open']?.mlx).toEqual(modelTypes['glm4_moe']?.mlx);
  });

  // Read from the released wheels by importing mlx_lm.models of 0.31.3 and 0.32.0 with mlx 0.32.4.
  it.each([
    ['qwen3_moe', '0.31.3', ['no-way'], ['no-way']],
    ['qwen3_moe', '0.32.0', [], []],
    ['qwen2', '0.31.3', [], ['no-way']],
    ['qwen2', '0.32.0', [], []],
    ['qwen3_next', '0.32.0', ['no-way'], []],
    ['kimi_k3', '0.31.3', ['not-loaded'], ['not-loaded']],
    ['kimi_k3', '0.32.0', [], []],
    ['bailing_hybrid', '0.32.2', ['no-way'], []],
    ['mistral3', '0.32.2', ['no-way'], ['no-way']],
    ['muse_spark_open', '0.32.1', [], []],
    ['muse_spark_open', '0.32.2', ['not-loaded'], ['not-loaded']],
    ['muse_spark_open', '0.99.0', ['not-known'], ['not-known']],
    ['prism_hadamard_qwen35', '0.32.2', [], []],
  ])('splits %s in %s by tensor with %j, as a pipeline with %j', (architecture, mlxLm, tensor, pipeline) => {
    const of = (sharding: RankSplit['sharding']) =>
      kindsOf(split({ shape: { ...llama, architecture }, sharding, mlxLm }));
    expect([of('tensor'), of('pipeline')]).toEqual([tensor, pipeline]);
  });

  it('is refused with the version that can split the model', () => {
    const pipeline = { sharding: 'pipeline', shape: { ...llama, architecture: 'qwen3_5' } } as const;
    expect(splitProblems(split({ ...pipeline, mlxLm: '0.31.3' }))).toEqual([
      { kind: 'no-way', detail: 'mlx-lm 0.31.3 cannot split qwen3_5 models as a pipeline; 0.32.0 can.' },
    ]);
  });

  it('is refused below 0.31.0, even for one rank', () => {
    for (const size of [1, 4]) {
      expect(kindsOf(split({ size, mlxLm: '0.30.7' }))).toEqual(['too-old']);
      expect(kindsOf(split({ size, mlxLm: '0.31.0' }))).toEqual([]);
    }
  });

  it('does not split a class without a way to split it, and gives no verdict if newer than the table', () => {
    const shape = { ...llama, architecture: 'mixtral' };
    expect(kindsOf(split({ shape, mlxLm: newestMlxLm }))).toEqual(['no-way']);
    expect(kindsOf(split({ shape, mlxLm: '0.99.0' }))).toEqual(['not-known']);
    expect(kindsOf(split({ shape, size: 1 }))).toEqual([]);
  });

  it('only doubts a model or a split that a fork may have added', () => {
    const missing = { ...llama, architecture: 'deepseek_v4' };
    const unsplit = { ...llama, architecture: 'mixtral' };
    expect(kindsOf({ ...split({ shape: missing, mlxLm: '0.32.0' }), isFork: true })).toEqual(['not-known']);
    expect(kindsOf({ ...split({ shape: unsplit, mlxLm: '0.32.0' }), isFork: true })).toEqual(['not-known']);
    expect(kindsOf({ ...split({ mlxLm: '0.30.7' }), isFork: true })).toEqual(['too-old']);
  });

  it('gives no verdict about a kind of model outside the table, except for numbers that do not divide', () => {
    for (const architecture of ['brand_new', 'constructor']) {
      const shape = { ...llama, architecture };
      expect(kindsOf(split({ shape }))).toEqual(['not-known']);
      expect([...new Set(kindsOf(split({ shape, size: 3 })))]).toEqual(['not-known', 'not-divisible']);
      expect(kindsOf(split({ shape, size: 3, sharding: 'pipeline' }))).toEqual(['not-known']);
      expect(kindsOf(split({ shape, size: 1 }))).toEqual([]);
    }
  });

  it('refuses a model that it has no class for, even on one rank', () => {
    const of = (architecture: string, mlxLm: string) =>
      splitProblems(split({ shape: { ...llama, architecture }, size: 1, mlxLm }));
    expect(of('deepseek_v4', '0.32.0')).toEqual([
      { kind: 'not-loaded', detail: 'mlx-lm 0.32.0 does not support deepseek_v4 models.' },
    ]);
    const newest = `mlx-lm ${newestMlxLm}, the newest that meshwright knows,`;
    expect(of('deepseek_v4', '0.99.0')).toEqual([
      { kind: 'not-known', detail: `${newest} does not support deepseek_v4 models; newer versions may.` },
    ]);
    expect(of('gemma4', '0.31.1')).toEqual([
      { kind: 'not-loaded', detail: 'mlx-lm 0.31.1 does not support gemma4 models; 0.31.2 does.' },
    ]);
    expect(of('gemma4', '0.31.2')).toEqual([]);
  });

  it('maps some architecture names to others', () => {
    expect(kindsOf(split({ shape: kimi, size: 2 }))).toEqual([]);
  });

  it.each([
    ['0.30.7', '0.31.0', true],
    ['0.31.0', '0.30.7', false],
    ['0.31.0', '0.31.0', false],
    ['0.9.0', '0.10.0', true],
    ['0.31', '0.31.1', true],
    ['0.31.0.post1', '0.31.0', false],
    ['main', '0.31.0', true],
  ])('is compared by its numbers: %s is older than %s: %s', (version, other, expected) => {
    expect(isBelow(version, other)).toBe(expected);
  });
});

describe('an mlx pipeline', () => {
  it.each([
    [61, 2, [30]],
    [61, 3, [40, 41]],
    [61, 4, [45, 46, 47]],
    [94, 4, [46, 47]],
    [92, 4, []],
    [80, 4, []],
  ])('loses layers in known versions: %d layers over %d ranks lose %j', (count, size, missing) => {
    expect(lostLayers(count, size)).toEqual(missing);
    const shape = { ...kimi, layers: layers(count) };
    expect(kindsOf(split({ shape, sharding: 'pipeline', size, mlxLm: '0.31.3' }))).toEqual(
      missing.length === 0 ? [] : ['lost-layers'],
    );
  });

  it('loses no layers with mlx-lm 0.32.0 or newer', () => {
    const one = split({ shape: kimi, sharding: 'pipeline', size: 2 });
    expect(['0.31.0', '0.31.3', '0.32.0', '0.99.0'].map((mlxLm) => kindsOf({ ...one, mlxLm }))).toEqual([
      ['lost-layers'],
      ['lost-layers'],
      [],
      [],
    ]);
  });
});
