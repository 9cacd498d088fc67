import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearestFit } from '../../../src/drivers/fit-nearest.ts';
import { fitPlacements, isWorse, worstVerdict } from '../../../src/drivers/fit-placements.ts';
import type { ModelShape } from '../../../src/model/model-shape.ts';

import { evenShape, fleetOf } from '../engine/plan/fit-shapes.ts';

describe('the memory fit of a model', () => {
  const shapes = fc.record({
    bytes: fc.integer({ min: 1_000_000, max: 1_000_000_000_000 }),
    count: fc.integer({ min: 1, max: 100 }),
    cache: fc.integer({ min: 0, max: 100_000 }),
    embeddingBytes: fc.integer({ min: 0, max: 10_000_000_000 }),
  });
  const placements = fc.record({
    ranks: fc.integer({ min: 1, max: 6 }),
    sharding: fc.constantFrom('tensor' as const, 'pipeline' as const),
    runtime: fc.constantFrom('mlx', 'llama', 'exo'),
    contextTokens: fc.integer({ min: 1, max: 1_000_000 }),
    parallel: fc.integer({ min: 1, max: 16 }),
  });
  const sizes = [512, 256, 192, 128, 96, 64];

  const fitOf = (
    shape: ModelShape,
    { ranks, ...wish }: typeof placements extends fc.Arbitrary<infer T> ? T : never,
  ) => {
    const on = Array.from({ length: ranks }, (_, index) => index + 1);
    const fleet = fleetOf(sizes, [{ name: 'a', shape }], [{ name: 'a', on, ...wish }]);
    return { fleet, fits: fitPlacements(fleet) };
  };

  it('never counts fewer weight bytes across all ranks than the model has', () => {
    fc.assert(
      fc.property(shapes, placements, ({ bytes, ...wish }, placement) => {
        const { fits } = fitOf(evenShape(bytes, wish), placement);
        const held = fits.flatMap(({ shares }) => shares).reduce((sum, { need }) => sum + need.weights, 0);
        expect(held).toBeGreaterThanOrEqual((bytes + wish.embeddingBytes) * (1 - 1e-9));
      }),
    );
  });

  it('needs at least as much memory for a longer context or more requests', () => {
    fc.assert(
      fc.property(shapes, placements, ({ bytes, ...wish }, placement) => {
        const total = (more: object) =>
          fitOf(evenShape(bytes, wish), { ...placement, ...more }).fits.map(({ needBytes }) => needBytes);
        const now = total({});
        total({ contextTokens: placement.contextTokens * 2 }).map((bytes, index) =>
          expect(bytes).toBeGreaterThanOrEqual(now[index] ?? 0),
        );
        total({ parallel: placement.parallel + 1 }).map((bytes, index) =>
          expect(bytes).toBeGreaterThanOrEqual(now[index] ?? 0),
        );
      }),
      { numRuns: 50 },
    );
  });

  it('suggests only a placement that fits better', () => {
    fc.assert(
      fc.property(shapes, placements, ({ bytes, ...wish }, placement) => {
        const { fleet, fits } = fitOf(evenShape(bytes, wish), placement);
        const [now] = fleet.placements;
        if (now === undefined) return;
        const before = worstVerdict(now, fits);
        const nearest = nearestFit(now, { fleet, seen: {} });
        if (nearest === undefined || before === undefined) return;
        const { kind, ...change } = nearest;
        const changed =
          kind === 'shares'
            ? { ...now, ...change, sharding: 'pipeline' as const, runtime: 'llama' }
            : { ...now, ...change };
        const after = worstVerdict(changed, fitPlacements({ ...fleet, placements: [changed] }));
        expect(after !== undefined && isWorse(before, after)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});
