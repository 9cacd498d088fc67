import validRange from 'semver/ranges/valid.js';
import { describe, expect, it } from 'vitest';
import { publishedShape } from '../../../src/cli/fit/published-shape.ts';
import { judgeSplit } from '../../../src/drivers/fit-command.ts';
import { exoCard } from '../../../src/drivers/known/exo-cards.ts';
import { knownNames, namedModel, publishedFor } from '../../../src/drivers/known/known-models.ts';
import { modelType, modelTypes, oldestMlxLm } from '../../../src/drivers/known/model-types.ts';
import { exoCommit, knownModels, mlxTable, publishedSpeeds } from '../../../src/drivers/known/tables.generated.ts';
import { weightBytes } from '../../../src/model/model-shape.ts';
import { onOnePage, sayValue } from '../one-page.ts';

const url = /^https:\/\/[\w.-]+\/\S+$/;
const builds = knownModels.flatMap((model) => (model.builds ?? []).map((build) => ({ model, build })));

describe('the data about kinds of models', () => {
  it('has valid version ranges', () => {
    const ofMlx = mlxTable.kinds.flatMap(({ can }): string[] => Object.values(can));
    const ofExo = Object.values(modelTypes).map(({ exo }) => exo?.tensor);
    const found = [mlxTable.lossyPipelines, ...ofMlx, ...ofExo].filter((range) => range !== undefined);
    expect(found.length).toBeGreaterThan(40);
    expect(found.filter((range) => validRange(range) === null)).toEqual([]);
    expect(mlxTable.versions[0]).toBe(oldestMlxLm);
  });
});

describe('the known models', () => {
  const cards = ['1.0.71', '1.0.72'].flatMap((version) =>
    builds.map(({ build: { repository } }) => [repository, version, exoCard(repository, version)]),
  );
  it.each(Object.entries({ cards, knownModels, modelTypes, publishedSpeeds }))('have documented %s', (_, data) => {
    expect(Object.entries(data).map(sayValue).length).toBeGreaterThan(0);
  });

  it('each have a public source, a kind in the table, and speeds with public sources', () => {
    const sources = [
      ...knownModels.map(({ source }) => source),
      ...builds.map(({ build }) => build.source),
      ...Object.values(publishedSpeeds).flatMap((speeds) => speeds.map(({ source }) => source)),
    ];
    expect(sources.filter((source) => !url.test(source))).toEqual([]);
    const cards = builds.filter(({ build }) => build.source.includes('/inference_model_cards'));
    expect(cards.filter(({ build }) => !build.source.includes(`/${exoCommit}/`))).toEqual([]);
    expect(knownModels.filter(({ type }) => type !== undefined && modelType(type) === undefined)).toEqual([]);
    const names = knownModels.map(({ name }) => name);
    expect(Object.keys(publishedSpeeds).filter((name) => !names.includes(name))).toEqual([]);
  });

  it('have no duplicate names, ignoring case', () => {
    expect(new Set(knownNames.map((name) => name.toLowerCase())).size).toBe(knownNames.length);
    expect(knownNames.filter((name) => namedModel(name) === undefined)).toEqual([]);
  });

  it.each([
    ['kimi-k2', 'mlx-community/Kimi-K2-Thinking'],
    ['KIMI-K2.6', 'moonshotai/Kimi-K2.6'],
    ['Kimi-K2.6-mlx-DQ3_K_M-q8', 'mlx-community/Kimi-K2.6-mlx-DQ3_K_M-q8'],
    ['hf:mlx-community/GLM-5-MXFP4-Q8@main', 'mlx-community/GLM-5-MXFP4-Q8'],
  ])('are found by the name %s', (name, repository) => {
    expect(namedModel(name)?.build?.repository).toBe(repository);
  });

  it('are not found by a folder path or under a different owner', () => {
    for (const name of ['./Kimi-K2.6', 'models/Kimi-K2.6', 'acme/Kimi-K2.6', 'kimi', '']) {
      expect(namedModel(name)).toBeUndefined();
    }
  });

  it('have the published size in their shape', () => {
    const shaped = builds.filter(({ model }) => model.config !== undefined);
    expect(shaped.length).toBeGreaterThan(25);
    for (const { model, build } of shaped) {
      const found = publishedShape({ model, build });
      if (found.kind === 'unknown') throw new Error(`${model.name}: ${found.why}`);
      const { layers, architecture, largestTensorBytes } = found.shape;
      expect([architecture, layers.length]).toEqual([model.type, model.config?.['num_hidden_layers']]);
      expect(Math.abs(weightBytes(found.shape) - build.bytes)).toBeLessThan(layers.length);
      expect(layers.every(({ bytes, sharded }) => sharded > 0 && sharded <= bytes)).toBe(true);
      expect(largestTensorBytes).toBeGreaterThan(0);
    }
  });

  it('have no shape if too little is published', () => {
    const known = namedModel('Kimi-K3');
    expect(known && publishedShape(known)).toEqual({
      kind: 'unknown',
      why: 'too little is published about Kimi-K3 to calculate its memory',
    });
  });

  it('can be split by exo across four Macs with tensor sharding if the exo model card allows it', () => {
    for (const { model, build } of builds.filter((one) => one.model.config !== undefined)) {
      const { repository } = build;
      const card = exoCard(repository, '1.0.72');
      const found = publishedShape({ model, build });
      if (card === undefined || found.kind === 'unknown' || found.shape.kvHeads % 4 !== 0) continue;
      const split = { driver: 'exo', shape: found.shape, sharding: 'tensor', size: 2, mlxLm: '0.32.0' } as const;
      expect([repository, judgeSplit({ ...split, exo: '1.0.72', repository })]).toEqual([
        repository,
        { problems: [], doubts: [] },
      ]);
    }
  });
});

describe('published speeds', () => {
  it('have no duplicates', () => {
    const keys = Object.values(publishedSpeeds).flatMap((speeds) =>
      speeds.map((one) => [one.model, one.nodes, one.runtime].join()),
    );
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('match the model by name, repository or source, and the number of Macs', () => {
    const kimi = publishedFor(['kimi', 'mlx-community/Kimi-K2-Thinking', './models/kimi'], 4);
    expect(kimi.map((one) => [one.runtime, one.generationSpeed])).toEqual([
      ['exo 1.0', 28.3],
      ['llama.cpp', 16.4],
    ]);
    expect(publishedFor(['big', '', 'hf:mlx-community/Kimi-K2-Thinking@main'], 4)).toEqual(kimi);
    expect(publishedFor(['big', '', 'https://huggingface.co/mlx-community/Kimi-K2-Thinking/resolve/main/'], 4)).toEqual(
      kimi,
    );
    expect(publishedFor(['kimi-k2-thinking'], 3)).toEqual([]);
    expect(publishedFor(['kimi-k2', ''], 4)).toEqual([]);
  });

  it('do not match a model with a similar number', () => {
    expect(publishedFor(['mlx-community/GLM-5.1-8bit'], 2)).toEqual([]);
    expect(publishedFor(['mlx-community/GLM-5-8bit-MXFP8'], 2)).toHaveLength(3);
    expect(publishedFor(['mlx-community/GLM-5-MXFP4-Q8'], 2)).toEqual([]);
  });
});

onOnePage('known-models');
