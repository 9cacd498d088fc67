import { layoutsOf, needsRdma } from '../../../desired/layouts.ts';
import type { Known } from '../../../model/known.ts';
import type { NodeName } from '../../../model/node.ts';
import { type LaunchBudget, launchBudget } from '../../rdma/launch-budget.ts';
import type { View } from '../../resource.ts';

/** The budget of launches of one node; unknown where nobody could see its count or its limits. */
export interface NodeBudget {
  readonly node: NodeName;
  readonly budget: Known<LaunchBudget>;
}

/** Whether a start over RDMA can come to this node, or has been there. */
function isConcerned({ desired }: View, node: NodeName, budget: Known<LaunchBudget>): boolean {
  const isPlaced = desired.placements
    .flatMap(layoutsOf)
    .some(({ transport, nodes }) => transport === 'rdma' && nodes.includes(node));
  return (isPlaced && needsRdma(desired, node)) || (budget.kind === 'known' && budget.value.taken > 0);
}

/** The budgets of the nodes that were looked at, where starts over RDMA matter. */
export const launchBudgets = (view: View): readonly NodeBudget[] =>
  view.targets
    .map(({ desired, facts }): NodeBudget => ({ node: desired.name, budget: launchBudget(facts) }))
    .filter(({ node, budget }) => isConcerned(view, node, budget));
