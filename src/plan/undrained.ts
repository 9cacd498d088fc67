import { everyNode, leadersOf } from '../desired/fallback.ts';
import type { DesiredFleet } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';
import type { Goal } from './goal.ts';
import type { Plan } from './plan.ts';

interface DrainedFleet {
  readonly desired: Pick<DesiredFleet, 'placements'>;
  /** What the plan was made from. */
  readonly observed: Plan['observed'];
}

/**
 * Nodes for which a plan has failed. What was not drained on one of its leaders, in either layout, or on one that nobody
 * could look at, was not drained for any node that may carry it: a batch may have those alone.
 */
export function withUndrained(
  failed: readonly NodeName[],
  goal: Goal,
  { desired: { placements }, observed }: DrainedFleet,
): readonly NodeName[] {
  if (goal.kind !== 'drain') return failed;
  const isUndrained = (leader: NodeName): boolean => failed.includes(leader) || !Object.hasOwn(observed, leader);
  const undrained = placements.filter((one) => goal.placements.includes(one.name) && leadersOf(one).some(isUndrained));
  return [...new Set([...failed, ...undrained.flatMap(everyNode)])];
}
