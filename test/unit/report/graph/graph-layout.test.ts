import { describe, expect, it } from 'vitest';
import { type Box, contains, graphLayout, overlap, pointsOf } from '../../../../src/report/graph/graph-layout.ts';
import { brokenSeven, fullMesh, seenPicture, strangeRack, studios, swappedRack } from './graph-racks.ts';

const counts = Array.from({ length: 20 }, (_, index) => index + 1);

const boxesOf = ({ macs }: ReturnType<typeof graphLayout>): readonly Box[] => macs.map(({ box }) => box);

const pairs = <T>(all: readonly T[]): readonly (readonly [T, T])[] =>
  all.flatMap((a, index) => all.slice(index + 1).map((b) => [a, b] as const));

/** As many cables as the receptacles allow: with more than seven Macs, only neighbors are linked. */
const meshOf = (count: number): readonly string[] =>
  count <= 7 ? fullMesh(count) : studios(count - 1).map((name, index) => `${name}:2 <-> studio-${index + 2}:1`);

const drawings = [
  ...counts.map((count) => [`${count} Macs`, { count, declared: meshOf(count) }] as const),
  ['swapped cable ends', swappedRack] as const,
  ['unusual devices', strangeRack] as const,
  ['seven Macs with faults', brokenSeven] as const,
];

describe('the drawing of a rack', () => {
  it.each(drawings)('keeps the Macs apart: %s', (_name, rack) => {
    const all = pairs(boxesOf(graphLayout(seenPicture(rack))));
    expect(all.filter(([a, b]) => overlap(a, b, 10))).toEqual([]);
  });

  it.each(drawings.filter(([, { count }]) => count <= 8))('does not route a cable over a Mac: %s', (_name, rack) => {
    const layout = graphLayout(seenPicture(rack));
    const points = [...layout.cables, ...layout.tails].flatMap(({ curve }) => pointsOf(curve, 60));
    const boxes = boxesOf(layout);
    expect(points.filter((point) => boxes.some((box) => contains(box, point, -2)))).toEqual([]);
  });

  it.each(drawings)('does not place a label over a Mac or a different label: %s', (_name, rack) => {
    const layout = graphLayout(seenPicture(rack));
    const texts = layout.labels.map(({ box }) => box);
    expect(pairs(texts).filter(([a, b]) => overlap(a, b))).toEqual([]);
    expect(texts.filter((text) => boxesOf(layout).some((box) => overlap(text, box)))).toEqual([]);
  });

  it('draws every cable and labels it with its whole move', () => {
    const picture = seenPicture(swappedRack);
    const { cables, labels } = graphLayout(picture);
    expect(cables).toHaveLength(picture.graph.cables.length);
    const written = labels.map(({ lines }) => lines.join(' '));
    for (const { number, text } of picture.graph.moves) {
      expect(written).toContain(`${number}. ${text}`);
    }
  });

  it('keeps every cable inside its bounds', () => {
    for (const [, rack] of drawings) {
      const layout = graphLayout(seenPicture(rack));
      const points = layout.cables.flatMap(({ curve }) => pointsOf(curve));
      expect(points.filter((point) => !contains(layout.bounds, point))).toEqual([]);
    }
  });
});
