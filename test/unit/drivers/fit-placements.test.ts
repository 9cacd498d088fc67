import { describe, expect, it } from 'vitest';
import { nearestFit as nearestFitItself, nearestText } from '../../../src/drivers/fit-nearest.ts';
import {
  fitPlacements as fitPlacementsItself,
  fitVerdict,
  memoryBudget,
  placementNeeds as placementNeedsItself,
  worstVerdict,
} from '../../../src/drivers/fit-placements.ts';
import type { FitFleet } from '../../../src/model/fit.ts';
import { given } from '../../../src/model/given.ts';
import type { ModelShape } from '../../../src/model/model-shape.ts';
import { type Link, type NodeName, nodeName } from '../../../src/model/node.ts';
import { evenShape, fleetOf, gib } from '../engine/plan/fit-shapes.ts';
import { onOnePage, onPage } from '../one-page.ts';

interface Wish {
  readonly also?: readonly number[];
  readonly links?: readonly Link[];
}

const fitPlacements = onPage(fitPlacementsItself);
const placementNeeds = onPage(placementNeedsItself);
const nearestFit = onPage(nearestFitItself);

/** MLA of 512 + 64 numbers of two bytes, in 61 layers: 70,272 bytes for a token. */
const latent = { cache: 1_152 };
const context = 128 * 1_024;
const kimi = { name: 'kimi', shape: evenShape((1.03e12 * 4.5) / 8, latent) };
const deepseek = { name: 'deepseek', shape: evenShape((671e9 * 4.5) / 8, latent) };
const round = (bytes: number): number => Math.round(bytes / 1e8) / 10;
const tp2 = (name: string) => ({ name, on: [1, 2], contextTokens: context });

const firstNeed = (fleet: FitFleet, index = 0) => {
  const [placement] = fleet.placements.slice(index);
  if (placement === undefined) throw new Error('the fleet has no placement');
  return placementNeeds(placement, fleet, {})?.[0];
};

describe('the memory fit', () => {
  it('counts the whole model for a rank with a role, and divides it among the others', () => {
    const [, second, third] = [1, 2, 3].map((number) => nodeName(`mac-${number}`));
    const weights = (on: readonly number[], prefill?: NodeName) => {
      const roles = prefill === undefined ? {} : { roles: { prefill } };
      const fleet = fleetOf([512, 512, 512], [deepseek], [{ ...tp2('deepseek'), on, ...roles }]);
      return fleet.placements.flatMap(
        (one) => placementNeeds(one, fleet, {})?.map((need) => round(need.weights)) ?? [],
      );
    };
    const [whole] = weights([1]);
    const [half] = weights([1, 2]);
    expect(half).toBeLessThan(whole ?? 0);
    expect(weights([1, 2], second)).toEqual([whole, whole]);
    expect(weights([1, 2, 3], third)).toEqual([half, half, whole]);
  });

  it('accepts Kimi K2 on two 512 GB Macs with 289.7 + 9.2 GB each of 498.2 GB', () => {
    const fleet = fleetOf([512, 512], [kimi], [tp2('kimi')]);
    const need = firstNeed(fleet);
    const [first, second] = fitPlacements(fleet);
    const sizes = [need?.weights, need?.cache, first?.budget?.bytes].map((bytes = 0) => round(bytes));
    expect(sizes).toEqual([289.7, 9.2, 498.2]);
    expect([first?.verdict, second?.verdict]).toEqual(['fits', 'fits']);
  });

  it('refuses DeepSeek next to Kimi K2 on the same pair, because of their sum', () => {
    const alone = fleetOf([512, 512], [deepseek], [tp2('deepseek')]);
    expect(round(firstNeed(alone)?.weights ?? 0)).toBe(188.7);
    expect(fitPlacements(alone).map(({ verdict }) => verdict)).toEqual(['fits', 'fits']);
    const both = fleetOf([512, 512], [kimi, deepseek], [tp2('kimi'), tp2('deepseek')]);
    expect(fitPlacements(both).map(({ verdict }) => verdict)).toEqual(['does-not-fit', 'does-not-fit']);
  });

  it('adds half a GiB for the gateway, on the leader only', () => {
    const fleet = fleetOf([512, 512], [kimi], [tp2('kimi')]);
    const processes = (publication?: object): readonly number[] | undefined => {
      const [placement] = fleet.placements;
      if (placement === undefined) throw new Error('the fleet has no placement');
      return placementNeeds({ ...placement, publication }, fleet, {})?.map((need) => need.process / gib);
    };
    expect(processes()).toEqual([0.3, 0.3]);
    expect(processes({ servedName: 'kimi' })).toEqual([0.8, 0.3]);
  });

  const large = { name: 'large', shape: evenShape(700e9, { count: 60 }) };
  const onAll = { name: 'large', on: [1, 2, 3, 4], contextTokens: 1 };
  const rack = [512, 512, 256, 256];

  it('warns if 700 GB of equal tensors fill 256 GB Macs to 64 %', () => {
    const fleet = fleetOf(rack, [large], [onAll]);
    expect(round(firstNeed(fleet)?.weights ?? 0)).toBe(175);
    const verdicts = fitPlacements(fleet).map(({ verdict }) => verdict);
    expect(verdicts).toEqual(['fits', 'fits', 'near-degraded', 'near-degraded']);
  });

  it('suggests layers in proportion to memory: 233.3 and 116.7 GB, 42.4 % on each', () => {
    const fleet = fleetOf(rack, [large], [onAll]);
    const [placement] = fleet.placements;
    if (placement === undefined) throw new Error('the fleet has no placement');
    const nearest = nearestFit(placement, { fleet, seen: {} });
    expect(nearest).toEqual({ kind: 'shares', shares: [2, 2, 1, 1] });
    const divided = fleetOf(rack, [large], [{ ...onAll, sharding: 'pipeline', runtime: 'exo' }]);
    const needs = placementNeeds(divided.placements[0] ?? placement, divided, {}) ?? [];
    expect(needs.map(({ weights }) => round(weights))).toEqual([233.3, 233.3, 116.7, 116.7]);
  });
});

describe("a node's memory budget", () => {
  const mac = (gigabytes: number, more: object = {}) => ({ memoryBytes: gigabytes * gib, ...more });
  const reported = (gigabytes: number, more: object = { wiredMegabytes: 0 }) =>
    mac(64, { reportedBytes: gigabytes * gib, ...more });
  const limited = { wiredMegabytes: 57_344 };

  it.each<[string, Parameters<typeof memoryBudget>, string, number]>([
    ['is what the file sets', [{ kind: 'bytes', bytes: 100 * gib }, mac(128, { wiredMegabytes: 5 })], 'desired', 100],
    ['reserves a share for macOS if set to auto', [{ kind: 'auto' }, mac(512)], 'desired', 480],
    ["is the node's limit if the file sets none", [undefined, mac(64, limited)], 'seen', 56],
    [
      'is two thirds of 16 GB',
      [undefined, mac(16, { wiredMegabytes: 0 })],
      'assumed',
      Math.floor((16 * gib * 2) / 3) / gib,
    ],
    ['is three quarters of 64 GB', [undefined, mac(64)], 'assumed', 48],
    ['is three quarters of 48 GB', [undefined, mac(48)], 'assumed', 36],
    ['is three quarters of 96 GB', [undefined, mac(96)], 'assumed', 72],
    ['is the usual value for 512 GB without a limit', [undefined, mac(512)], 'assumed', 464],
    ['is the value that a runtime reported without a limit', [undefined, reported(50)], 'reported', 50],
    ['is the value that a runtime reported, even if it is the whole memory', [undefined, reported(64)], 'reported', 64],
    ['is the reported value if the file sets the default', [{ kind: 'default' }, reported(50)], 'reported', 50],
    ['ignores the reported value if the node has a limit', [undefined, reported(50, limited)], 'seen', 56],
    ["ignores the reported value while the node's limit is unknown", [undefined, reported(50, {})], 'assumed', 48],
    ['ignores a reported value above the memory', [undefined, reported(65)], 'assumed', 48],
    ["ignores the node's limit if the file sets the default", [{ kind: 'default' }, mac(64, limited)], 'assumed', 48],
  ])('%s', (_name, given, kind, gigabytes) => {
    expect(memoryBudget(...given)).toEqual({ kind, bytes: gigabytes * gib });
  });

  it('is unknown while the memory is unknown', () => {
    expect(memoryBudget({ kind: 'auto' }, {})).toBeUndefined();
  });
});

describe("a node's memory verdict", () => {
  const room = { memoryBytes: 100, budget: { kind: 'seen', bytes: 90 } } as const;

  it.each([
    [60, 'fits'],
    [61, 'near-degraded'],
    [70, 'near-degraded'],
    [71, 'degraded'],
    [81, 'degraded'],
    [82, 'tight'],
    [90, 'tight'],
    [91, 'does-not-fit'],
  ])("is, at %i percent of the node's memory: %s", (bytes, verdict) => {
    expect(fitVerdict(bytes, room)).toBe(verdict);
  });

  it("is undefined while the node's memory is unknown", () => {
    expect(fitVerdict(1, {})).toBeUndefined();
  });

  it("becomes the placement's verdict if no node has a worse verdict", () => {
    const fleet = fleetOf([512, 16], [kimi], [{ ...tp2('kimi') }]);
    const [placement] = fleet.placements;
    if (placement === undefined) throw new Error('the fleet has no placement');
    expect(worstVerdict(placement, fitPlacements(fleet))).toBe('does-not-fit');
  });
});

describe("a rank's memory need", () => {
  const gqa = (wish: Partial<ModelShape> = {}) =>
    evenShape(64e9, { count: 32, cache: 4_096, attention: { kind: 'gqa' }, kvHeads: 8, heads: 32, ...wish });
  const needs = (shape: ModelShape, wish: Parameters<typeof fleetOf>[2][number]) => {
    const fleet = fleetOf([64, 64, 64, 64], [{ name: 'a', shape }], [wish]);
    return fleet.placements.flatMap((placement) => placementNeeds(placement, fleet, {}) ?? []);
  };

  it('includes the cache divided by the ranks if the key heads divide evenly', () => {
    const [whole] = needs(gqa(), { name: 'a', on: [1], sharding: 'pipeline' });
    const [half] = needs(gqa(), { name: 'a', on: [1, 2] });
    const [third] = needs(gqa(), { name: 'a', on: [1, 2, 3] });
    const caches = [32, 16, 32].map((layers) => layers * 4_096 * 4_096);
    expect([whole?.cache, half?.cache, third?.cache]).toEqual(caches);
  });

  it('counts every request answered in parallel', () => {
    const [single] = needs(gqa(), { name: 'a', on: [1, 2] });
    const [four] = needs(gqa(), { name: 'a', on: [1, 2], parallel: 4 });
    expect(four?.cache).toBe(4 * (single?.cache ?? 0));
  });

  it('limits the cache to an attention window', () => {
    const windowed = gqa({
      layers: [
        { bytes: 1, sharded: 1, cachePerToken: 10, window: 100 },
        { bytes: 1, sharded: 1, cachePerToken: 10 },
      ],
    });
    const [need] = needs(windowed, { name: 'a', on: [1], contextTokens: 1_000 });
    expect(need?.cache).toBe(10 * 100 + 10 * 1_000);
  });

  it('includes its own layers in a pipeline, plus embedding and output', () => {
    const shape = gqa({ embeddingBytes: 1e9, outputBytes: 2e9 });
    const found = needs(shape, { name: 'a', on: [1, 2, 3], sharding: 'pipeline' });
    expect(found.map(({ weights }) => weights)).toEqual([11 * 2e9 + 3e9, 11 * 2e9 + 3e9, 10 * 2e9 + 3e9]);
    expect(found.map(({ cache }) => cache / (4_096 * 4_096))).toEqual([11, 11, 10]);
    const uneven = gqa({ layers: [1, 2, 4].map((bytes) => ({ bytes, sharded: 0, cachePerToken: 0 })) });
    const [first, second] = needs(uneven, { name: 'a', on: [1, 2], sharding: 'pipeline' });
    expect([first?.weights, second?.weights]).toEqual([6, 1]);
  });

  it('includes the largest tensor twice while mlx loads with tensor sharding', () => {
    const [need] = needs(gqa({ largestTensorBytes: 50e9 }), { name: 'a', on: [1, 2] });
    expect(need?.total).toBeCloseTo(32e9 + 0.3 * gib + 100e9, 0);
    const [alone] = needs(gqa({ largestTensorBytes: 50e9 }), { name: 'a', on: [1] });
    expect(alone?.loading).toBe(0);
  });

  it('includes compute buffers of one GiB or 2 % of the budget', () => {
    const fleet = fleetOf([64, 512], [{ name: 'a', shape: gqa() }], [{ name: 'a', on: [1, 2] }]);
    const found = fleet.placements.flatMap((placement) => placementNeeds(placement, fleet, {}) ?? []);
    expect(found.map(({ compute }) => compute)).toEqual([gib, (475_136 * 2 ** 20) / 50]);
  });

  it("is unknown while the model's shape is unknown", () => {
    const fleet = fleetOf([64], [{ name: 'a' }], [{ name: 'a', on: [1] }]);
    expect(fitPlacements(fleet)).toMatchObject([{ shares: [], unknown: ['a'], needBytes: 0, verdict: 'fits' }]);
  });

  it('excludes a stopped placement', () => {
    const fleet = fleetOf([64], [{ name: 'a', shape: gqa() }], [{ name: 'a', on: [1], state: 'stopped' }]);
    expect(fitPlacements(fleet)).toEqual([]);
  });
});

describe('the nearest placement that fits', () => {
  const mac = (number: number) => ({ node: nodeName(`mac-${number}`), receptacle: 1 });
  const cables = [{ ends: [mac(2), mac(3)] }, { ends: [mac(4), mac(3)] }] as unknown as Link[];
  const none = 'No context, split or choice of nodes makes the model fit on the nodes of this file.';
  const on = (...macs: readonly number[]) =>
    `The model fits on nodes: [${macs.map((one) => `mac-${one}`).join(', ')}].`;
  const divided = 'The model fits with its layers divided by memory';
  const [long, pipeline] = [{ contextTokens: 65_536 }, { sharding: 'pipeline' as const }];
  const drafted = { on: [1], runtime: 'llama', drafter: 'b' };

  it.each<[readonly number[], number, object, string]>([
    [[64, 64], 60, long, 'The model fits with context: 8k.'],
    [[64, 64], 60, { contextTokens: 8_193, parallel: 8 }, none],
    [[64, 64], 60, { contextTokens: 8_193, parallel: 6 }, 'The model fits with context: 2k.'],
    [[64, 64, 64, 64], 150, {}, on(1, 2, 3, 4)],
    [[64, 64, 64, 64], 120, pipeline, on(1, 2, 3)],
    [[16, 64, 64, 128], 50, { on: [1] }, on(4)],
    [[16, 64, 64, 96], 38, { on: [1], also: [4, 2] }, on(3)],
    [[64, 64, 64, 64], 80, { on: [1], sharding: undefined, links: cables }, on(2, 3)],
    [[16, 16, 16, 256], 40, { on: [1, 2, 3], ...pipeline }, on(4)],
    [[256, 256, 256, 256], 330, {}, none],
    [[512, 7], 120, { runtime: 'exo' }, `${divided}, as exo does with sharding: pipeline.`],
    [[512, 7], 120, { runtime: 'llama' }, `${divided} (sharding: pipeline, shares: [64, 1]).`],
    [[96, 64], 104, {}, `${divided} (3 : 2), which only the drivers exo and llamacpp-rpc support.`],
    [[96, 64], 104, { roles: { prefill: mac(2).node } }, none],
    [[64, 64, 64], 80, drafted, none],
    [[64, 64, 128], 50, drafted, on(3)],
  ])('is named for Macs of %j GiB, %d GB and %j: %s', (sizes, gigabytes, { also = [], links, ...wish }: Wish, text) => {
    const models = [gigabytes, 30].map((bytes, at) => ({
      name: at === 0 ? 'a' : 'b',
      shape: evenShape(bytes * 1e9, { cache: 16_000 }),
    }));
    const fleet = fleetOf(sizes, models, [
      { name: 'a', on: [1, 2], ...wish },
      ...also.map((one) => ({ name: `b${one}`, model: 'b', on: [one] })),
    ]);
    const [placement] = fleet.placements;
    const driver = fleet.runtimes.find(({ name }) => name === placement?.runtime)?.driver;
    expect(placement && nearestText(nearestFit(placement, { fleet, seen: {}, ...given({ links }) }), driver)).toBe(
      text,
    );
  });
});

onOnePage('fit-placements');
