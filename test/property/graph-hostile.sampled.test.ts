import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { graphDot } from '../../src/report/graph/graph-dot.ts';
import { graphSvg } from '../../src/report/graph/graph-svg.ts';
import { end, peer, receptacles } from '../rack/rack.ts';
import { runs } from '../runs.ts';
import { declaredPicture, seenPicture, studios } from '../unit/report/graph/graph-racks.ts';
import { elementsOf, statementsOf } from '../unit/report/graph/well-formed.ts';

/** Words that resemble markup or DOT escapes, or are random. */
const hostile = fc.oneof(
  fc.constantFrom(
    '</svg><script>alert(1)</script>',
    '"];}',
    '\\N\\l\\',
    '<b>',
    ']]>',
    '&#0;',
    '\u202e\u0000\ud800',
    '',
  ),
  fc.string({ unit: 'binary', maxLength: 200 }),
);

const cabling = (count: number) =>
  fc
    .shuffledSubarray(studios(count).flatMap((name) => [1, 2, 3, 4, 5, 6].map((number) => `${name}:${number}`)))
    .map((ends) =>
      Array.from({ length: Math.floor(ends.length / 2) }, (_, index) => [ends[2 * index], ends[2 * index + 1]] as const)
        .filter(([a = '', b = '']) => a.split(':')[0] !== b.split(':')[0])
        .map(([a, b]) => `${a} <-> ${b}`),
    );

const racks = fc
  .integer({ min: 2, max: 8 })
  .chain((count) => fc.record({ count: fc.constant(count), declared: cabling(count), cables: cabling(count) }));

describe('the drawing of a rack', () => {
  it('is well formed for any cabling', () => {
    fc.assert(
      fc.property(racks, fc.boolean(), (rack, isReached) => {
        const picture = seenPicture({ ...rack, unreachable: isReached ? [] : ['studio-2'] });
        expect(elementsOf(graphSvg(picture))[0]).toBe('svg');
        statementsOf(graphDot(picture));
        elementsOf(graphSvg(declaredPicture(rack)));
      }),
      { numRuns: runs(60) },
    );
  });

  it('is well formed for any name of a Mac, dock or placement', () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, (model, device, placement) => {
        const stranger = peer(end('stranger:1'), { model });
        const thunderbolt = receptacles('studio-1', 6, []).map((one) => {
          if (one.receptacle === 1) return { ...one, state: 'connected' as const, peers: [stranger] };
          const devices = [{ name: device }];
          return one.receptacle === 2 ? { ...one, state: 'connected' as const, devices } : one;
        });
        const hardware = { model, chip: model, memoryBytes: 1 };
        const rack = { count: 2, declared: [], values: { 'studio-1': { thunderbolt, hardware } } };
        const picture = { ...seenPicture(rack), placements: [{ name: placement, nodes: ['studio-1'] }] };
        expect(elementsOf(graphSvg(picture)).filter((name) => name === 'script')).toEqual([]);
        statementsOf(graphDot(picture));
      }),
      { numRuns: runs(200) },
    );
  });
});
