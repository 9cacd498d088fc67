import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../../src/model/digest.ts';
import { graphDot } from '../../../../src/report/graph/graph-dot.ts';
import { graphSvg } from '../../../../src/report/graph/graph-svg.ts';
import type { GraphPicture } from '../../../../src/report/graph/graph-words.ts';
import {
  bridgedRack,
  brokenSeven,
  declaredPicture,
  fullMesh,
  seenPicture,
  strangeRack,
  swappedRack,
} from './graph-racks.ts';
import { elementsOf } from './well-formed.ts';

const hardware = { model: 'Mac16,9', chip: 'Apple M4 Max', memoryBytes: 2 ** 36 };
const healthy = seenPicture({ count: 4, declared: fullMesh(4) });
const swapped = seenPicture(swappedRack);
const strange = seenPicture(strangeRack);
const bridged = seenPicture(bridgedRack);
const pictures: readonly (readonly [string, GraphPicture])[] = [
  ['as declared', healthy],
  ['swapped cable ends', swapped],
  ['unusual devices', strange],
  ['bridged Macs', bridged],
  ['seven Macs with faults', seenPicture(brokenSeven)],
  ['the file only', declaredPicture({ count: 4, declared: fullMesh(4) })],
  ['two models', seenPicture({ count: 2, declared: fullMesh(2), values: { 'studio-2': { hardware } } })],
  ['no cable at all', seenPicture({ count: 1, declared: [] })],
];

const count = (text: string, part: string): number => text.split(part).length - 1;

/** The text of a drawing without markup, with the lines of each text joined. */
const words = (svg: string): string =>
  svg
    .replaceAll(/<(?:title|desc|style)>[\s\S]*?<\/(?:title|desc|style)>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

it('the drawings match golden/pictures.txt, with a digest for the positions', async () => {
  const pages = pictures.map(([name, picture]) => {
    const svg = graphSvg(picture);
    return `${name}: ${digestOf(svg)}\n${words(svg)}\n\n${graphDot(picture)}`;
  });
  await expect(pages.join('\n')).toMatchFileSnapshot('golden/pictures.txt');
});

describe('the SVG drawing', () => {
  it.each(pictures)('is well formed and reproducible: %s', (_name, picture) => {
    const svg = graphSvg(picture);
    expect(elementsOf(svg)[0]).toBe('svg');
    expect(graphSvg(picture)).toBe(svg);
  });

  it.each(pictures)('contains every receptacle and cable: %s', (_name, picture) => {
    const svg = graphSvg(picture);
    const receptacles = picture.graph.nodes.flatMap((node) => node.receptacles).length;
    expect(count(svg, '<g class="receptacle"')).toBe(receptacles);
    expect(count(svg, '<g class="cable ')).toBe(picture.graph.cables.length + picture.graph.strays.length);
  });

  it.each(pictures)(
    'has a literal light color on every shape and a dark equivalent in the style: %s',
    (_name, picture) => {
      const svg = graphSvg(picture);
      expect(svg).not.toContain('var(');
      const shapes = svg.match(/<(?:rect|text|path) [^>]*>/g) ?? [];
      expect(shapes.length).toBeGreaterThan(5);
      for (const shape of shapes) expect(shape).toMatch(/ fill="(?:#[0-9a-f]{6}|none)"/);
      for (const path of svg.match(/<path [^>]*>/g) ?? []) expect(path).toMatch(/ fill="none" stroke="#/);
      for (const [used] of svg.matchAll(/(?<= )(?:fill|stroke)="#[0-9a-f]{6}"/g)) expect(svg).toContain(`[${used}]{`);
    },
  );

  it('contains no script or external reference', () => {
    const svg = graphSvg(strange);
    expect(svg).not.toMatch(/<script|javascript:|@import|url\(|href=/);
    expect(svg.replace('xmlns="http://www.w3.org/2000/svg"', '')).not.toContain('http');
  });

  it('is marked as simulated only for simulated Macs', () => {
    expect(words(graphSvg(healthy))).toContain('simulated');
    expect(words(graphSvg({ ...healthy, isSimulated: false }))).not.toContain('simulated');
  });
});
