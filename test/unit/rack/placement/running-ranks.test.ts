import { describe, expect, it } from 'vitest';
import { unknown } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { runningPlacements as runningPlacementsItself } from '../../../../src/rack/placement/mesh/rank-states.ts';
import { type MeshRack, meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const runningPlacements = onPage(runningPlacementsItself);

const three = ['studio-1', 'studio-2', 'studio-3'].map(nodeName);
const kimi = { name: 'kimi', nodes: three };

const nodesOf = (rack: MeshRack) => observeMesh(meshFleet(), rack).nodes;

describe('running placements', () => {
  it('list placements with a process on any node', () => {
    const rack = nodesOf({ ranks: threeRanks(['joined', 'running', 'exited']) });
    expect(runningPlacements([kimi], rack)).toEqual([
      { name: 'kimi', nodes: ['studio-1', 'studio-2'], isGuess: false },
    ]);
  });

  it('exclude a placement whose ranks were all stopped, have exited or never started', () => {
    expect(runningPlacements([kimi], nodesOf({ ranks: threeRanks(['stopped', 'exited', 'ready']) }))).toEqual([]);
    expect(runningPlacements([kimi], nodesOf({ ranks: {} }))).toEqual([]);
  });

  it('include placements that are no longer in the file, sorted', () => {
    const rack = nodesOf({ ranks: threeRanks(['joined', 'joined', 'joined']) });
    const json = JSON.stringify(rack['studio-1']);
    const other = JSON.parse(json.replaceAll('kimi', 'alpha').replaceAll('studio-1', 'studio-9'));
    expect(runningPlacements([], { ...rack, 'studio-9': other })).toEqual([
      { name: 'alpha', nodes: ['studio-9'], isGuess: false },
      { name: 'kimi', nodes: three, isGuess: false },
    ]);
  });

  it('assume that unobserved ranks run on the nodes in the file', () => {
    const rack = nodesOf({ ranks: threeRanks(['stopped', 'stopped', 'stopped']) });
    const blind = Object.fromEntries(
      Object.entries(rack).map(([name, one]) => [
        name,
        { ...one, facts: { ...one.facts, services: unknown('timed-out', 'launchctl did not answer') } },
      ]),
    );
    expect(runningPlacements([{ name: 'kimi', nodes: three.slice(0, 2) }], blind)).toEqual([
      { name: 'kimi', nodes: ['studio-1', 'studio-2'], isGuess: true },
    ]);
  });
});

onOnePage('running-ranks');
