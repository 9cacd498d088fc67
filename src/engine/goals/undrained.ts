import { everyNode } from '../../desired/layouts.ts';
import type { NodeName } from '../../model/node.ts';
import { type DoorLook, doorNodes } from '../../rack/placement/endpoint/drain.ts';
import type { Plan } from '../plan/plan.ts';
import type { Goal } from './goal.ts';

/** What a plan was made from. */
interface DrainedFleet extends DoorLook {
  readonly observed: Plan['observed'];
}

/**
 * Nodes for which a plan has failed. What was not drained at one of its doors, in either layout or where an earlier file
 * has left one, or on a node that nobody could look at, was not drained for any node that may carry it: a batch may have
 * those alone.
 */
export function withUndrained(
  failed: readonly NodeName[],
  goal: Goal,
  { observed, ...look }: DrainedFleet,
): readonly NodeName[] {
  if (goal.kind !== 'drain') return failed;
  const isUndrained = (node: NodeName): boolean => failed.includes(node) || !Object.hasOwn(observed, node);
  const undrained = look.fleet.placements.filter(
    ({ name }) => goal.placements.includes(name) && doorNodes(look, [name]).some(isUndrained),
  );
  return [...new Set([...failed, ...undrained.flatMap(everyNode)])];
}
