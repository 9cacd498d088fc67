import type { DesiredFleet } from '../model/desired.ts';
import { isDayOver } from '../model/facts/hold-day.ts';

/** The fleet in which every hold of the file is marked of which the last day was over by this time. */
export function judgeHolds(fleet: DesiredFleet, nowEpochMs: number): DesiredFleet {
  const nodes = fleet.nodes.map((node) => {
    const { hold } = node;
    const isOver = hold?.until !== undefined && isDayOver(hold.until, nowEpochMs);
    return hold === undefined || !isOver ? node : { ...node, hold: { ...hold, isOver } };
  });
  return { ...fleet, nodes };
}
