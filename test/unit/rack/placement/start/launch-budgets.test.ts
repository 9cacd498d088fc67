import { expect, it } from 'vitest';
import { viewOf } from '../../../../../src/engine/plan/view.ts';
import type { DesiredFleet } from '../../../../../src/model/desired.ts';
import { launchBudgets as launchBudgetsItself } from '../../../../../src/rack/placement/placement-blockers.ts';
import { meshFleet } from '../../../../rack/placements.ts';
import { desiredFleet, observedFleet } from '../../../../rack/rack.ts';
import { onOnePage, onPage } from '../../../one-page.ts';

const launchBudgets = onPage(launchBudgetsItself);

it('launch budgets list only nodes with counted RDMA starts or a placement over RDMA', () => {
  const values = { 'studio-2': { 'rdma-starts': { startedIn: 'BOOT-studio-2', starts: 3, last: [] } } };
  const nodesOf = (desired: DesiredFleet): readonly string[] => {
    const targets = desired.nodes.map(({ name }) => name);
    return launchBudgets(viewOf({ desired, observation: observedFleet({ values }), targets })).map(({ node }) => node);
  };
  expect([desiredFleet(), meshFleet()].map(nodesOf)).toEqual([['studio-2'], ['studio-2']]);
  expect(nodesOf(meshFleet({ placement: { transport: 'rdma' } }))).toEqual(['studio-1', 'studio-2', 'studio-3']);
});

onOnePage('launch-budgets');
