import { describe, expect, it } from 'vitest';
import { elsewhereWords } from '../../../../src/cli/ranks/where-they-run.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { type MeshRack, observeMesh, threeRanks } from '../../../rack/placements.ts';
import { fleetWithFallback, kimi } from '../../../rack/plans.ts';

/** The text about studio-4, which only the fallback of kimi uses. */
const textFor = (rack: MeshRack): string =>
  elsewhereWords(kimi(fleetWithFallback()), nodeName('studio-4'), observeMesh(fleetWithFallback(), rack).nodes);

const all = threeRanks(['joined', 'joined', 'joined']);
const some = threeRanks(['joined', 'exited', 'stopped']);
const orphanedRank: MeshRack['ranks'] = { ...all, 'studio-4': [{ state: 'joined' }] };

describe('a node that only the fallback uses', () => {
  it.each<[string, MeshRack]>([
    ['kimi runs on studio-1..3; it has no rank on studio-4.', { ranks: all }],
    ['kimi runs on studio-1, but not on studio-2,3; it has no rank on studio-4.', { ranks: some }],
    ['kimi does not run; its nodes are studio-1..3; it has no rank on studio-4.', { ranks: {} }],
    [
      'kimi runs on studio-1,2; unknown whether it runs on studio-3; it has no rank on studio-4.',
      { ranks: all, unreachable: ['studio-3'] },
    ],
    [
      'unknown whether kimi runs on studio-1..3; it has no rank on studio-4.',
      { ranks: all, unreachable: ['studio-1', 'studio-2', 'studio-3'] },
    ],
    ['kimi runs on studio-1..3.', { ranks: all, unreachable: ['studio-4'] }],
    ['kimi runs on studio-1..3; it has an orphaned rank on studio-4.', { ranks: orphanedRank }],
  ])('is described: %s', (words, rack) => {
    expect(textFor(rack)).toBe(words);
  });
});
