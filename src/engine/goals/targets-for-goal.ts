import type { NodeName } from '../../model/node.ts';
import { type DoorLook, doorNodes } from '../../rack/placement/endpoint/drain.ts';
import type { Goal } from './goal.ts';

/** Those of the targets that a goal is about: to drain, every node may have a door, and only those that do are touched. */
export function targetsForGoal(goal: Goal, targets: readonly NodeName[], look: DoorLook): readonly NodeName[] {
  if (goal.kind !== 'drain') return targets;
  const meant = doorNodes(look, goal.placements);
  return targets.filter((node) => meant.includes(node));
}
