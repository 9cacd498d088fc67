import { type Known, known } from '../../../model/known.ts';
import type { NodeName } from '../../../model/node.ts';
import { isSpent } from '../../rdma/launch-budget.ts';
import type { Member } from './member.ts';

/**
 * The nodes whose budget has no room for a start; unknown when that cannot be said of one of them.
 *
 * @param takes what the start takes of each device
 */
export function spentNodes(members: readonly Member[], takes = 1): Known<readonly NodeName[]> {
  const spent: NodeName[] = [];
  for (const { node, seen } of members) {
    if (seen.kind === 'unknown') return seen;
    const { budget } = seen.value;
    if (budget.kind === 'unknown') return budget;
    if (isSpent(budget.value, takes)) spent.push(node);
  }
  return known(spent);
}
