import { type Known, known } from '../model/known.ts';
import type { NodeName } from '../model/node.ts';
import type { Member } from './member.ts';

/**
 * How often a member may be started in one boot session where it uses RDMA: every start that fails leaks a protection
 * domain, and only a reboot frees it.
 *
 * @see apple-platform: RDMA limits as seen on 26.x (about ten queue pairs and three protection domains per device)
 */
export const startsPerBoot = 3;

/** The nodes whose budget is spent; unknown when a member was started that often and nobody knows in which session. */
export function spentNodes(members: readonly Member[]): Known<readonly NodeName[]> {
  const spent: NodeName[] = [];
  for (const { node, seen } of members) {
    if (seen.kind === 'unknown') return seen;
    const { record, starts } = seen.value;
    if (record === undefined || record.starts < startsPerBoot) continue;
    if (starts.kind === 'unknown') return starts;
    if (starts.value >= startsPerBoot) spent.push(node);
  }
  return known(spent);
}
