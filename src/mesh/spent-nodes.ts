import { type Known, known } from '../model/known.ts';
import type { NodeName } from '../model/node.ts';
import { isSpent } from './launch-budget.ts';
import type { Member } from './member.ts';

/** The nodes whose budget is spent; unknown when that cannot be said of one of them. */
export function spentNodes(members: readonly Member[]): Known<readonly NodeName[]> {
  const spent: NodeName[] = [];
  for (const { node, seen } of members) {
    if (seen.kind === 'unknown') return seen;
    const { budget } = seen.value;
    if (budget.kind === 'unknown') return budget;
    if (isSpent(budget.value)) spent.push(node);
  }
  return known(spent);
}
