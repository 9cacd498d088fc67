import { configurePlacement } from '../../../drivers/configure-placement.ts';
import { lastingNames, type PlacementFinding } from '../../../drivers/contract/driver.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import type { NodeObservation } from '../../../model/facts/fact-values.ts';
import { readLimit } from '../../rdma/launch-budget.ts';

/** What a start of a placement takes of each RDMA device of a member, whatever macOS calls it. */
function takenOfDevice(placement: DesiredPlacement, fleet: DesiredFleet): number {
  const configuration = configurePlacement(placement, fleet, 0, lastingNames);
  const ranks = configuration.kind === 'incomplete' ? [] : configuration.ranks;
  return Math.max(1, ...ranks.map(({ takesOfDevice = 1 }) => takesOfDevice));
}

interface Short {
  readonly node: string;
  readonly limit: number;
}

function shortOn({ node, facts }: NodeObservation, takes: number): readonly Short[] {
  const limit = readLimit(facts);
  return limit === undefined || takes <= limit ? [] : [{ node, limit }];
}

/**
 * Whether one start of a placement takes more of an RDMA device than any boot session of a member has: then no restart
 * of a Mac helps. Limits that nobody read refuse nothing.
 */
export function queuePairFindings(
  placement: DesiredPlacement,
  fleet: DesiredFleet,
  nodes: readonly NodeObservation[],
): readonly PlacementFinding[] {
  if (placement.transport !== 'rdma') return [];
  const takes = takenOfDevice(placement, fleet);
  const short = nodes.flatMap((node) => shortOn(node, takes));
  if (short.length === 0) return [];
  const rooms = short.map(({ node, limit }) => `those of ${node} have ${limit}`).join(', ');
  const detail = `Each rank takes ${takes} queue pairs of every device that it uses; ${rooms} in one boot session.`;
  return [{ code: 'placement/too-few-queue-pairs', severity: 'error', detail }];
}
