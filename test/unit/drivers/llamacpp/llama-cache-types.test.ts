import { describe, expect, it } from 'vitest';
import { placementNeeds } from '../../../../src/drivers/fit-placements.ts';
import { llamaCacheFactor } from '../../../../src/drivers/llamacpp/memory.ts';
import type { FitFleet, FitPlacement } from '../../../../src/model/fit.ts';
import { evenShape, fleetOf } from '../../engine/plan/fit-shapes.ts';

describe("llama.cpp's cache", () => {
  it.each([
    [[], 1],
    [['-ctk', 'q8_0', '-ctv', 'q8_0'], 34 / 64],
    [['--cache-type-k', 'q4_0', '--cache-type-v', 'q4_0'], 18 / 64],
    // In some models, keys and values differ in number.
    [['-ctk', 'q8_0'], 1],
    [['-ctk', 'f32'], 2],
    [['-ctk', 'q4_0', '-ctk', 'f32', '-ctv', 'q4_0'], 2],
    [['-ctk', 'unheard-of'], 2],
    [['-ctk'], 2],
  ])('is sized by the types in %j: %f times the f16 size', (args, factor) => {
    expect(llamaCacheFactor({ args })).toBe(factor);
  });

  it('is sized by variables unless an argument overrides them', () => {
    const env = { LLAMA_ARG_CACHE_TYPE_K: 'q8_0', LLAMA_ARG_CACHE_TYPE_V: 'q8_0' };
    expect(llamaCacheFactor({ env })).toBe(34 / 64);
    expect(llamaCacheFactor({ env, args: ['-ctv', 'f32'] })).toBe(2);
  });

  it('holds as many tokens for a drafter as for the model, but with a separate type', () => {
    const model = { name: 'm', shape: evenShape(64e9, { cache: 1_000 }) };
    const small = { name: 's', shape: evenShape(1e9, { cache: 10, count: 10 }) };
    const needOf = (more: Partial<FitPlacement>, models: FitFleet['models'] = [model, small]) => {
      const fleet = fleetOf([128], models, [{ name: 'm', on: [1], runtime: 'llama', contextTokens: 4_096, ...more }]);
      return fleet.placements.map((one) => placementNeeds(one, fleet, {})?.[0]);
    };
    const [alone] = needOf({ parallel: 2 });
    const added = (args: readonly string[]) =>
      needOf({ parallel: 2, drafter: 's', args }).map((need) => [
        Math.round((need?.weights ?? 0) - (alone?.weights ?? 0)),
        (need?.cache ?? 0) - (alone?.cache ?? 0) * llamaCacheFactor({ args }),
      ]);
    expect(added([])).toEqual([[1e9, 10 * 10 * 4_096 * 2]]);
    expect(added(['-ctk', 'q8_0', '-ctv', 'q8_0'])).toEqual(added([]));
    expect(added(['-ctkd', 'f32'])).toEqual([[1e9, 2 * 10 * 10 * 4_096 * 2]]);
    expect(needOf({ drafter: 's' }, [model, { name: 's' }])).toEqual([undefined]);
  });

  it('changes the memory need of every rank, but not that of other drivers', () => {
    const model = { name: 'm', shape: evenShape(64e9, { cache: 1_000, stateBytes: 0 }) };
    const cachesOf = (more: Partial<FitPlacement>) => {
      const fleet = fleetOf([64, 64], [model], [{ name: 'm', on: [1, 2], ...more }]);
      return fleet.placements.flatMap((one) => placementNeeds(one, fleet, {})?.map(({ cache }) => cache) ?? []);
    };
    const usual = cachesOf({ runtime: 'llama', sharding: 'pipeline' });
    expect(usual).toHaveLength(2);
    expect(usual.every((bytes) => bytes > 0)).toBe(true);
    expect(cachesOf({ runtime: 'llama', sharding: 'pipeline', args: ['-ctk', 'f32'] })).toEqual(
      usual.map((bytes) => 2 * bytes),
    );
    expect(cachesOf({ args: ['-ctk', 'f32'] })).toEqual(cachesOf({}));
  });
});
