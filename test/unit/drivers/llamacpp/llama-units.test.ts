import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { llamaBytes, llamaUnits } from '../../../../src/drivers/llamacpp/memory.ts';

import { evenShape } from '../../engine/plan/fit-shapes.ts';

/** Log values of llama.cpp 0.7.0 for small models of its architecture `llama` in 16 bits. @see runtimes: section 6.4 */
interface Logged {
  readonly layers: number;
  readonly hidden: number;
  readonly inner: number;
  readonly kv: number;
  readonly context: number;
  readonly shares: readonly number[];
  readonly units: readonly number[];
  readonly weights: readonly number[];
  readonly cache: readonly number[];
}

const words = 384;
const logged: readonly Logged[] = [
  {
    layers: 8,
    hidden: 512,
    inner: 2_048,
    kv: 128,
    context: 2_048,
    shares: [1, 1],
    units: [5, 3],
    weights: [36.27, 22.14],
    cache: [5, 3],
  },
  {
    layers: 8,
    hidden: 512,
    inner: 2_048,
    kv: 128,
    context: 2_048,
    shares: [3, 1],
    units: [7, 1],
    weights: [50.78, 7.63],
    cache: [7, 1],
  },
];

const mebibytes = (bytes: number): number => Math.round((bytes / 2 ** 20) * 100) / 100;

function shapeOf({ layers, hidden, inner, kv }: Logged) {
  const bytes = 2 * (2 * hidden * hidden + 2 * hidden * kv + 3 * hidden * inner) + 2 * hidden * 4;
  return evenShape(bytes * layers, {
    count: layers,
    cache: 2 * 2 * kv,
    embeddingBytes: 2 * hidden * words,
    outputBytes: 2 * hidden * words,
    otherBytes: 4 * hidden,
    lastNormBytes: 4 * hidden,
  });
}

describe("llama.cpp's layer units", () => {
  it.each(logged)('match its log for $layers layers over $shares', (one) => {
    // Two workers and a leader without a GPU: the leader's share comes last, and is 0.
    const found = llamaBytes(shapeOf(one), [0, ...one.shares], one.context).slice(1);
    expect(found.map(({ layers }) => layers.length)).toEqual(one.units);
    expect(found.map(({ hasOutput }) => hasOutput)).toEqual([false, true]);
    expect(found.map(({ weightBytes }) => mebibytes(weightBytes))).toEqual(one.weights);
    expect(found.map(({ cacheBytes }) => mebibytes(cacheBytes))).toEqual(one.cache);
  });

  it.each([
    [6, [1, 1], [4, 2]],
    [4, [3, 1], [4, 0]],
  ])('are split for %i layers over %j as %j', (layers, shares, wanted) => {
    const units = llamaUnits(layers, shares);
    expect(units.map((unit) => unit.layers.length)).toEqual(wanted);
    expect(units.at(-1)?.hasOutput).toBe(true);
  });

  it('put the last layers and the output on the leader, and the embedding in plain memory', () => {
    const shape = evenShape(800, { count: 8, embeddingBytes: 50, outputBytes: 60, otherBytes: 7, lastNormBytes: 7 });
    const found = llamaBytes(shape, [1, 1, 1], 0);
    expect(found.map(({ layers }) => layers)).toEqual([
      [6, 7],
      [0, 1, 2],
      [3, 4, 5],
    ]);
    expect(found.map(({ weightBytes }) => weightBytes)).toEqual([200 + 67, 300, 300]);
    expect(found.map(({ embeddingBytes }) => embeddingBytes)).toEqual([50, 0, 0]);
  });

  it('include a copy of the embedding if it also serves as output', () => {
    const shape = evenShape(100, { count: 1, embeddingBytes: 50 });
    expect(llamaBytes(shape, [1], 0)).toMatchObject([{ weightBytes: 150, embeddingBytes: 50 }]);
  });

  it('are each on exactly one device, in order', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 16 }),
        (layers, shares) => {
          const units = llamaUnits(layers, shares);
          expect(units.flatMap((unit) => unit.layers)).toEqual(Array.from({ length: layers }, (_, layer) => layer));
          expect(units.filter(({ hasOutput }) => hasOutput)).toHaveLength(1);
        },
      ),
    );
  });
});
