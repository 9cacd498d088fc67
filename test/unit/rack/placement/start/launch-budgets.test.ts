import { expect, it } from 'vitest';
import { viewOf } from '../../../../../src/engine/plan/view.ts';
import { launchBudgets as launchBudgetsItself } from '../../../../../src/rack/placement/placement-blockers.ts';
import { desiredFleet, observedFleet } from '../../../../rack/rack.ts';
import { onOnePage, onPage } from '../../../one-page.ts';

const launchBudgets = onPage(launchBudgetsItself);

it('launch budgets list only nodes with counted RDMA starts', () => {
  const values = { 'studio-2': { 'rdma-starts': { startedIn: 'BOOT-studio-2', starts: 3, last: [] } } };
  const desired = desiredFleet();
  expect(desired.placements).toEqual([]);
  const targets = desired.nodes.map(({ name }) => name);
  const budgets = launchBudgets(viewOf({ desired, observation: observedFleet({ values }), targets }));
  expect(budgets.map(({ node }) => node)).toEqual(['studio-2']);
});

onOnePage('launch-budgets');
