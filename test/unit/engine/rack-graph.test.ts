import { describe, expect, it } from 'vitest';
import type { GraphCable } from '../../../src/engine/rack-graph.ts';
import { rackGraph as rackGraphItself } from '../../../src/engine/rack-graph.ts';
import type { ThunderboltReceptacle } from '../../../src/model/facts/fact-values.ts';
import { linkEndText, nodeName } from '../../../src/model/node.ts';
import { examine } from '../../../src/rack/examination.ts';
import { desiredFleet, end, observedFleet, peer, receptacles } from '../../rack/rack.ts';
import { onOnePage, onPage } from '../one-page.ts';
import {
  brokenSeven,
  declaredPicture,
  fullMesh,
  seenPicture,
  strangeRack,
  swappedRack,
} from '../report/graph/graph-racks.ts';

const rackGraph = onPage(rackGraphItself);

const shown = ({ ends, state }: GraphCable): string => `${ends.map(linkEndText).join(' ')} ${state}`;

const four = { count: 4, declared: fullMesh(4) };

describe('the rack graph', () => {
  it('shows every declared link once if the cabling matches the file', () => {
    const { graph } = seenPicture(four);
    expect(graph.cables.map(({ state }) => state)).toEqual(Array(6).fill('as-declared'));
    expect([graph.moves, graph.strays]).toEqual([[], []]);
    expect(graph.nodes.map(({ receptacles: own }) => own.length)).toEqual([6, 6, 6, 6]);
  });

  it('shows missing links next to the observed cables, with the moves that touch them', () => {
    const { graph } = seenPicture(swappedRack);
    expect(graph.cables.map(shown)).toEqual([
      'studio-1:1 studio-2:1 as-declared',
      'studio-1:2 studio-3:1 missing',
      'studio-1:2 studio-4:1 wrong',
      'studio-1:3 studio-3:1 wrong',
      'studio-1:3 studio-4:1 missing',
      'studio-2:2 studio-3:2 as-declared',
      'studio-2:3 studio-4:2 as-declared',
      'studio-3:3 studio-4:3 missing',
    ]);
    const touched = graph.cables
      .filter(({ moves }) => moves.length > 0)
      .map(({ ends }) => ends.map(linkEndText).join(' '));
    expect(touched).toEqual(['studio-1:2 studio-4:1', 'studio-1:3 studio-3:1', 'studio-3:3 studio-4:3']);
    expect(graph.moves.map(({ text }) => text)).toEqual([
      'swap the cable ends in studio-1 receptacles 2 and 3',
      'connect studio-3 receptacle 3 and studio-4 receptacle 3 with a Thunderbolt 5 cable',
    ]);
  });

  it('marks slow cables, hubs, foreign Macs, docks and cables seen from only one end', () => {
    const { graph } = seenPicture(strangeRack);
    const states = new Map(graph.cables.map(({ ends, state }) => [linkEndText(ends[0]), state]));
    expect([states.get('studio-1:1'), states.get('studio-1:2'), states.get('studio-3:3')]).toEqual([
      'slow',
      'through-hub',
      'one-sided',
    ]);
    expect(graph.strays.map(({ at, kind, model }) => [linkEndText(at), kind, model])).toEqual([
      ['studio-2:5', 'foreign', 'Mac16,9'],
    ]);
    const dock = graph.nodes[1]?.receptacles[5];
    expect([dock?.sight, dock?.sees]).toEqual(['device', 'TS5 <Plus> & more']);
  });

  it('shows the cables of an unobserved Mac as unknown and reports no foreign Macs', () => {
    const { graph } = seenPicture(brokenSeven);
    const own = graph.cables.filter(({ ends }) => ends.some(({ node }) => node === 'studio-7'));
    expect(new Set(own.map(({ state }) => state))).toEqual(new Set(['unknown']));
    expect(graph.strays).toEqual([]);
    expect(graph.nodes[6]).toMatchObject({ name: 'studio-7', isSeen: false });
  });

  it('shows a foreign Mac at a link whose other end could not be read', () => {
    const [link] = fullMesh(2);
    if (link === undefined) throw new Error('the mesh of two has no link');
    const at = (name: string, change: Partial<ThunderboltReceptacle>) => ({
      thunderbolt: receptacles(name, 6, [link]).map((one) => (one.receptacle === 1 ? { ...one, ...change } : one)),
    });
    const stranger = peer({ node: nodeName('stranger'), receptacle: 1 }, { model: 'Mac16,9' });
    const values = {
      'studio-1': at('studio-1', { peers: [stranger] }),
      'studio-2': at('studio-2', { state: 'unknown', peers: [] }),
    };
    const { graph } = seenPicture({ count: 2, declared: [link], values });
    expect(graph.cables.map(shown)).toEqual(['studio-1:1 studio-2:1 unknown']);
    expect(graph.strays.map(({ at: seenAt, kind }) => [linkEndText(seenAt), kind])).toEqual([
      ['studio-1:1', 'foreign'],
    ]);
  });

  it('shows an undeclared cable seen from one end', () => {
    const far = end('studio-2:4');
    const thunderbolt = receptacles('studio-1', 6, []).map((one) =>
      one.receptacle === 3 ? { ...one, state: 'connected' as const, peers: [peer(far)] } : one,
    );
    const { graph } = seenPicture({ count: 2, declared: [], values: { 'studio-1': { thunderbolt } } });
    expect(graph.cables.map(shown)).toEqual(['studio-1:3 studio-2:4 one-sided']);
    expect(graph.cables[0]).toMatchObject({ isDeclared: false, isSeen: true });
  });

  it('shows declared cables and free receptacles without an observation', () => {
    const { graph } = declaredPicture(four);
    expect(new Set(graph.cables.map(({ state }) => state))).toEqual(new Set(['declared']));
    expect(graph.nodes[0]?.receptacles.map(({ sight }) => sight)).toEqual([
      ...['declared', 'declared', 'declared'],
      ...['free', 'free', 'free'],
    ]);
    expect(graph.nodes[0]?.receptacles[0]).toEqual({
      receptacle: 1,
      sight: 'declared',
      place: expect.objectContaining({ words: 'back, next to Ethernet' }),
    });
  });

  it("counts the observed model's receptacles, not those of the model in the file", () => {
    const names = ['studio-1'];
    const observation = observedFleet({
      names,
      cables: [],
      receptacleCount: { 'studio-1': 3 },
      values: { 'studio-1': { hardware: { model: 'Mac16,11', chip: 'Apple M4 Pro', memoryBytes: 2 ** 36 } } },
    });
    const { nodes } = rackGraph(examine(desiredFleet({ names }), observation), []);
    expect(nodes[0]).toMatchObject({ model: 'Mac16,11', faces: '3 on the back' });
    expect(nodes[0]?.receptacles.map(({ place }) => place?.words)).toContain('back');
  });
});

onOnePage('rack-graph');
