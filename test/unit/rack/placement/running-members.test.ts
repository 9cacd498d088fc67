import { describe, expect, it } from 'vitest';
import { unknown } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { runningPlacements as runningPlacementsItself } from '../../../../src/rack/placement/members.ts';
import { type MeshRack, meshFleet, observeMesh, threeMembers } from '../../../rack/placements.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const runningPlacements = onPage(runningPlacementsItself);

const three = ['studio-1', 'studio-2', 'studio-3'].map(nodeName);
const kimi = { name: 'kimi', nodes: three };

const nodesOf = (rack: MeshRack) => observeMesh(meshFleet(), rack).nodes;

describe('running placements', () => {
  it('are those with a process on some node, whatever the file wants', () => {
    const rack = nodesOf({ members: threeMembers(['joined', 'running', 'exited']) });
    expect(runningPlacements([kimi], rack)).toEqual([
      { name: 'kimi', nodes: ['studio-1', 'studio-2'], isGuess: false },
    ]);
  });

  it('are none where every rank was stopped, has ended or never began', () => {
    expect(runningPlacements([kimi], nodesOf({ members: threeMembers(['stopped', 'exited', 'ready']) }))).toEqual([]);
    expect(runningPlacements([kimi], nodesOf({ members: {} }))).toEqual([]);
  });

  it('count one that only the nodes know of any more', () => {
    const rack = nodesOf({ members: threeMembers(['joined', 'joined', 'joined']) });
    expect(runningPlacements([], rack)).toEqual([{ name: 'kimi', nodes: three, isGuess: false }]);
  });

  it('take a member that nobody could see for a running one, on the nodes of the file only', () => {
    const rack = nodesOf({ members: threeMembers(['stopped', 'stopped', 'stopped']) });
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

onOnePage('running-members');
