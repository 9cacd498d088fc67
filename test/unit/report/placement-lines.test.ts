import { describe, expect, it } from 'vitest';
import { nodeName } from '../../../src/model/node.ts';
import type { PlacementSurvey } from '../../../src/rack/placement/check/placement-survey.ts';
import { nodesText } from '../../../src/report/nodes-text.ts';
import { plainPaint } from '../../../src/report/page.ts';
import { placementLines } from '../../../src/report/status/status-text.ts';

const counted = (count: number): PlacementSurvey['nodes'] =>
  Array.from({ length: count }, (_, at) => nodeName(`studio-${at + 1}`));

const serving = (name: string, count: number): PlacementSurvey => ({
  name,
  state: 'serving',
  evidence: 'its endpoint returned a token',
  wanted: 'serving',
  standing: 'met',
  nodes: counted(count),
  transport: 'rdma',
  sharding: 'tensor',
  generation: 12,
  endpoint: { node: nodeName('studio-1'), port: 8_080 },
});

const { endpoint: _, ...silent } = serving('qwen', 2);
const hung: PlacementSurvey = { ...silent, state: 'hung', standing: 'differs', evidence: 'no token: timed out' };
const { generation: __, ...unseen } = silent;
const unknown: PlacementSurvey = {
  ...unseen,
  name: 'a',
  state: 'unknown',
  standing: 'unknown',
  evidence: 'studio-2: gone',
};

const lines = (placements: readonly PlacementSurvey[], columns = 80): readonly string[] =>
  placementLines(placements, { columns, unicode: false, paint: plainPaint, isSimulated: false });

describe('placement lines', () => {
  it('have columns only for known values', () => {
    expect(lines([serving('kimi', 4), hung, unknown])).toEqual([
      '  kimi   serving   rdma   studio-1..4   tensor   gen 12   port 8080 on studio-1',
      '  qwen   hung      rdma   studio-1,2    tensor   gen 12',
      '  a      unknown   rdma   studio-1,2    tensor',
      '    studio-2: gone',
    ]);
  });

  it.each([4, 16])('fit in 80 columns with %s nodes', (count) => {
    const found = lines([serving('kimi', count)]);
    expect(found).toEqual([`  kimi   serving   rdma   studio-1..${count}   tensor   gen 12   port 8080 on studio-1`]);
    expect(Math.max(...found.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('are stacked on a page too narrow for a table, and never exceed its width', () => {
    expect(lines([serving('kimi', 4)], 40)).toEqual([
      '  kimi   serving',
      '    rdma   studio-1..4   tensor   gen 12',
      '    port 8080 on studio-1',
    ]);
    const long = serving('a-name-that-is-longer-than-any-page-of-it', 16);
    for (let columns = 20; columns <= 100; columns += 1) {
      const found = lines([long, hung, unknown], columns);
      expect(Math.max(...found.map((line) => line.length)), String(columns)).toBeLessThanOrEqual(columns);
    }
  });

  it("are followed by each node's memory use, with the prediction if it differs", () => {
    const held = { weights: 7_090_000_000, cache: 12_580_000, compute: 1 };
    const one: PlacementSurvey = {
      ...hung,
      memory: [
        { node: nodeName('studio-1'), held, predicted: { weights: 7_090_001_000, cache: 12_580_000 } },
        { node: nodeName('studio-2'), held, predicted: { weights: 8_100_000_000, cache: 12_580_000 } },
        { node: nodeName('studio-3'), held },
      ],
    };
    expect(lines([one])).toEqual([
      '  qwen   hung   rdma   studio-1,2   tensor   gen 12',
      '    studio-1 uses weights 7.1 GB, cache 12.6 MB, as predicted',
      '    studio-2 uses weights 7.1 GB, cache 12.6 MB (predicted: weights 8.1 GB,',
      '    cache 12.6 MB)',
      '    studio-3 uses weights 7.1 GB, cache 12.6 MB',
    ]);
  });

  it('show the evidence for a busy placement that gave no token in time', () => {
    const evidence = 'busy: its gateway has 2 requests in flight and sent part of an answer 0.8 s ago';
    expect(lines([{ ...serving('qwen', 2), evidence, proof: 'traffic' }]).slice(1)).toEqual([
      '    busy: its gateway has 2 requests in flight and sent part of an answer 0.8 s',
      '    ago',
    ]);
  });

  it('are warnings only if the desired state differs', () => {
    const tones = (one: PlacementSurvey): readonly string[] => {
      const found: string[] = [];
      const paint = (tone: string, text: string): string => {
        found.push(tone);
        return text;
      };
      placementLines([one], { columns: 80, unicode: false, paint, isSimulated: false });
      return found;
    };
    const stopped: PlacementSurvey = { ...silent, state: 'stopped', wanted: 'stopped' };
    expect([tones(serving('kimi', 4)), tones(hung), tones(stopped)]).toEqual([['good'], ['bad'], ['dim']]);
    expect(tones({ ...stopped, wanted: 'serving', standing: 'differs' })).toEqual(['warn']);
  });
});

describe('a span of node names', () => {
  it('is a range for consecutive numbers, otherwise a list or a count', () => {
    expect(nodesText(counted(4))).toBe('studio-1..4');
    expect(nodesText(['mini-08', 'mini-09', 'mini-10'])).toBe('mini-08..10');
    expect(nodesText(['a-2', 'a-1', 'a-3', 'a-5'])).toBe('a-2,1,3,5');
    expect(nodesText(['a-1', 'b-2', 'a-3'])).toBe('a-1, b-2, a-3');
    expect(nodesText(['max', 'mini', 'ultra'])).toBe('max, mini, ultra');
    expect(nodesText(counted(2))).toBe('studio-1,2');
    expect(nodesText(counted(16).toReversed())).toBe('16 nodes');
  });
});
