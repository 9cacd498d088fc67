import { expect, it } from 'vitest';
import type { FleetSurvey, NodeSurvey } from '../../../../src/engine/diagnose/survey.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { cableLines } from '../../../../src/report/status/status-text.ts';

const page = { columns: 80, unicode: false, paint: (_: string, text: string) => text } as Parameters<
  typeof cableLines
>[1];

function shown(dockBitsPerSecond: number): readonly string[] {
  const [one, two] = [nodeName('studio-1'), nodeName('studio-2')];
  const dock = { receptacle: 3, sight: 'device', sees: 'Helios', isInCable: false, bitsPerSecond: dockBitsPerSecond };
  const node = {
    name: one,
    isReached: true,
    rdma: 'ready',
    bridge: 'none',
    receptacles: [dock],
  } as unknown as NodeSurvey;
  const ends = [
    { node: one, receptacle: 1 },
    { node: two, receptacle: 1 },
  ] as const;
  const survey: FleetSurvey = {
    nodes: [node],
    notAsked: [],
    links: [],
    cables: [{ ends, bitsPerSecond: 80e9, sight: 'as-declared' }],
  };
  return cableLines(survey, page);
}

it("the cable list's title claims one speed only if a dock also has it", () => {
  const [title, , dock] = shown(40e9);
  expect(title).toContain('Cables seen (80 Gb/s unless shown otherwise)');
  expect(dock).toMatch(/studio-1:3 \S+ sees Helios at 40 Gb\/s$/);
  expect(shown(80e9)[0]).toContain('Cables seen (all at 80 Gb/s)');
  expect(shown(80e9)[2]).toMatch(/sees Helios$/);
});
