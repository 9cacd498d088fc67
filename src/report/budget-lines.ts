import type { NodeBudget } from '../resources/launch-budgets.ts';
import { hang } from './layout.ts';
import type { Page } from './page.ts';

const budgetText = ({ node, budget }: NodeBudget): string => {
  if (budget.kind === 'unknown') return `unknown on ${node}`;
  const { starts, limit, isAssumed } = budget.value;
  return `${starts} of ${limit}${isAssumed ? ' (assumed)' : ''} on ${node}`;
};

/** `Starts over RDMA since boot: 2 of 10 on studio-1, 2 of 10 on studio-2`; nothing where none can come. */
export function budgetLines(budgets: readonly NodeBudget[], page: Page): readonly string[] {
  const text = `Starts over RDMA since boot: ${budgets.map(budgetText).join(', ')}`;
  return budgets.length === 0 ? [] : hang('  ', text, page.columns);
}
