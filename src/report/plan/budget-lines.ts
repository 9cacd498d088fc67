import type { NodeBudget } from '../../rack/placement/start/launch-budgets.ts';
import { hang } from '../layout.ts';
import type { Page } from '../page.ts';

const budgetText = ({ node, budget }: NodeBudget): string => {
  if (budget.kind === 'unknown') return `unknown on ${node}`;
  const { taken, limit, isAssumed, isCounted } = budget.value;
  return `${taken} of ${limit}${isAssumed ? ' (assumed)' : ''}${isCounted ? ' by counted starts' : ''} on ${node}`;
};

/** `Taken of RDMA devices: 2 of 10 on studio-1, 2 of 10 on studio-2`; nothing where no start can come. */
export function budgetLines(budgets: readonly NodeBudget[], page: Page): readonly string[] {
  const text = `Taken of RDMA devices: ${budgets.map(budgetText).join(', ')}`;
  return budgets.length === 0 ? [] : hang('  ', text, page.columns);
}
