import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphDot } from '../../src/report/graph/graph-dot.ts';
import { graphSvg } from '../../src/report/graph/graph-svg.ts';
import type { GraphPicture } from '../../src/report/graph/graph-words.ts';
import { sharedFolder } from '../rack/kept-running.ts';
import { end, peer, receptacles } from '../rack/rack.ts';
import {
  bridgedRack,
  brokenSeven,
  declaredPicture,
  fullMesh,
  seenPicture,
  strangeRack,
  studios,
  swappedRack,
} from '../unit/report/graph/graph-racks.ts';
import { findProgram, type Page, startChromium } from './browser/chromium.ts';
import { type Area, channelsOf, contrast, lookAtDrawing, type SeenDrawing } from './browser/seen-drawing.ts';

let page: Page;
const folder = sharedFolder('mw-drawings-');
beforeAll(async () => {
  page = await startChromium();
});
afterAll(async () => {
  await page?.close();
});

const meshOf = (count: number): GraphPicture => seenPicture({ count, declared: fullMesh(count) });

/** A Mac and a dock whose names look like markup, on a node with the longest possible name. */
function hostilePicture(): GraphPicture {
  const model = '</text></svg><script>document.title = "caught"</script>';
  const own = receptacles('studio-1', 6, []).map((one) => {
    if (one.receptacle === 1)
      return { ...one, state: 'connected' as const, peers: [peer(end('stranger:1'), { model })] };
    const devices = [{ name: '&amp;<b>"dock"\u202e漢字漢字' }];
    return one.receptacle === 2 ? { ...one, state: 'connected' as const, devices } : one;
  });
  const picture = seenPicture({ count: 3, declared: [], values: { 'studio-1': { thunderbolt: own } } });
  return { ...picture, placements: [{ name: '<i>placement</i>'.repeat(6), nodes: ['studio-2'], state: 'serving' }] };
}

/** A ring of eight Macs with names of the maximum length. */
function wideRing(): GraphPicture {
  const ring = studios(8).map((name, index) => `${name}:2 <-> studio-${((index + 1) % 8) + 1}:1`);
  const picture = seenPicture({ count: 8, declared: ring });
  const long = (name: string): string => `${name}-${'wide-name'.repeat(6)}`.slice(0, 63);
  const text = JSON.stringify(picture).replaceAll(/studio-[1-8](?=")/g, (name) => long(name));
  return JSON.parse(text) as GraphPicture;
}

const pictures: readonly (readonly [string, () => GraphPicture])[] = [
  ['two Macs', () => meshOf(2)],
  [
    'two Macs with a cable in the wrong receptacle',
    () => seenPicture({ count: 2, declared: ['studio-1:1 <-> studio-2:1'], cables: ['studio-1:1 <-> studio-2:4'] }),
  ],
  ['four Macs', () => meshOf(4)],
  ['four Macs with swapped cable ends', () => seenPicture(swappedRack)],
  ['four Macs with unusual cabling', () => seenPicture(strangeRack)],
  ['four bridged Macs', () => seenPicture(bridgedRack)],
  ['only the file', () => declaredPicture({ count: 4, declared: fullMesh(4) })],
  ['seven Macs', () => meshOf(7)],
  ['seven Macs with faults', () => seenPicture(brokenSeven)],
  ['eight Macs with long names', wideRing],
  ['hostile names', hostilePicture],
];

async function shown(picture: GraphPicture, scheme: 'light' | 'dark'): Promise<SeenDrawing> {
  const svg = graphSvg(picture);
  const [, width = '', height = ''] = /width="(\d+)" height="(\d+)"/.exec(svg) ?? [];
  const path = join(folder, 'rack.svg');
  writeFileSync(path, svg);
  await page.prefer(scheme);
  await page.open(path, Number(width), Number(height));
  return lookAtDrawing(page);
}

const overlaps = (a: Area, b: Area): boolean =>
  // The boxes of neighboring lines overlap slightly at their empty edges.
  a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;

const isInside = (inner: Area, outer: Area): boolean =>
  inner.left >= outer.left &&
  inner.right <= outer.right &&
  inner.top >= outer.top - 1 &&
  inner.bottom <= outer.bottom + 1;

const isRed = (colour: string): boolean => {
  const [red, green, blue] = channelsOf(colour);
  return red > 1.8 * green && red > 1.8 * blue;
};

const badStates = ['slow', 'through-hub', 'one-sided', 'missing', 'wrong'];

describe.each(pictures)('the drawing of %s in Chromium', (_name, picture) => {
  let drawing: SeenDrawing;
  beforeAll(async () => {
    drawing = await shown(picture(), 'light');
  });

  it('is a complete SVG document without active content', async () => {
    expect([drawing.root, drawing.isBroken]).toEqual(['svg', false]);
    expect(await page.evaluate('document.querySelectorAll("script, foreignObject, image, a").length')).toBe(0);
    expect(await page.evaluate('document.title')).not.toBe('caught');
  });

  it('shows every text inside the page and its frame, without overlap', () => {
    const { texts } = drawing;
    expect(texts.length).toBeGreaterThan(5);
    expect(texts.filter(({ area }) => !isInside(area, drawing.page)).map(({ text }) => text)).toEqual([]);
    expect(texts.filter(({ area, frame }) => frame && !isInside(area, frame)).map(({ text }) => text)).toEqual([]);
    const over = texts.flatMap((a, index) =>
      texts.slice(index + 1).flatMap((b) => (overlaps(a.area, b.area) ? [`${a.text} / ${b.text}`] : [])),
    );
    expect(over).toEqual([]);
    expect(texts.filter(({ isOnTop }) => !isOnTop).map(({ text }) => text)).toEqual([]);
  });

  it('shows every receptacle, covered only by its own label', () => {
    const { graph } = picture();
    expect(drawing.sockets.map(({ key }) => key)).toEqual(
      graph.nodes.flatMap(({ name, receptacles: own }) => own.map(({ receptacle }) => `${name}:${receptacle}`)),
    );
    expect(drawing.sockets.filter(({ isOnTop }) => !isOnTop)).toEqual([]);
    const words = drawing.texts.filter(({ text }) => text.length > 1);
    const covered = drawing.sockets.filter(({ area }) => words.some((text) => overlaps(text.area, area)));
    expect(covered).toEqual([]);
  });

  it('shows most of each cable, and each kind with its own line style', () => {
    const { graph } = picture();
    expect(drawing.lines).toHaveLength(graph.cables.length + graph.strays.length);
    for (const { length, visible, ends } of drawing.lines) {
      expect(length, ends).toBeGreaterThan(60);
      expect(visible, ends).toBeGreaterThan(0.45);
    }
    for (const cable of graph.cables) {
      const line = drawing.lines.find(
        ({ ends }) => ends === cable.ends.map(({ node, receptacle }) => `${node}:${receptacle}`).join(' '),
      );
      expect(line?.dashes === 'none', line?.ends).toBe(cable.isSeen && cable.state !== 'unknown');
    }
  });

  it('marks only wrong cables in red and with a note', () => {
    const { graph } = picture();
    const strayAt = new Map(graph.strays.map((stray) => [stray.kind as string, stray.isInTheWay]));
    for (const { state, stroke, ends } of drawing.lines) {
      expect(isRed(stroke), `${ends} ${state}`).toBe(badStates.includes(state) || strayAt.get(state) === true);
    }
    const noted = drawing.notes.map(({ ends }) => ends);
    const wrong = drawing.lines.filter(({ state }) => badStates.includes(state));
    expect(wrong.filter(({ ends }) => !noted.includes(ends))).toEqual([]);
    for (const { number, text } of graph.moves) {
      expect(
        drawing.notes.some((note) => note.text.includes(`${number}. ${text}`) && isRed(note.stroke)),
        text,
      ).toBe(true);
    }
  });

  it.each(['light', 'dark'] as const)('is readable on a %s page', async (scheme) => {
    const { texts, lines, paper } = await shown(picture(), scheme);
    expect(channelsOf(paper).every((channel) => (scheme === 'dark' ? channel < 64 : channel > 230))).toBe(true);
    const faint = texts.filter(({ colour, behind }) => contrast(colour, behind) < 4.5);
    expect(faint.map(({ text, colour, behind }) => [text, colour, behind])).toEqual([]);
    expect(lines.filter(({ stroke }) => contrast(stroke, paper) < 3)).toEqual([]);
  });
});

describe.each(pictures)('the DOT output for %s in graphviz', (_name, picture) => {
  it('renders without warnings, with every Mac and every cable', () => {
    const dot = findProgram(['dot']);
    if (dot === undefined) throw new Error('This test needs graphviz: apt-get install graphviz');
    const { graph } = picture();
    const svg = execFileSync(dot, ['-Tsvg'], {
      input: graphDot(picture()),
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    expect(svg.match(/class="node"/g)).toHaveLength(graph.nodes.length + graph.strays.length);
    expect((svg.match(/class="edge"/g) ?? []).length).toBe(graph.cables.length + graph.strays.length);
  });
});
