import type { DesiredPlacement } from '../../model/desired.ts';
import type { RankMatrix } from '../contract/driver.ts';

/** How the ranks of a placement talk; `alone` where there is only one. */
export type Backend = 'jaccl' | 'jaccl-ring' | 'ring' | 'alone';

/** Whether every rank has a value towards every other one. */
export const isFullMesh = (matrix: RankMatrix): boolean =>
  matrix.every((row, rank) => row.every((value, other) => rank === other || value !== null));

/** Whether every rank has a value towards the rank before it and the one behind it. */
export const isRing = (matrix: RankMatrix): boolean =>
  matrix.every((row, rank) => {
    const size = matrix.length;
    return row[(rank + 1) % size] !== null && row[(rank + size - 1) % size] !== null;
  });

/**
 * How the ranks talk: as the file says, else by the transport and the cables. Over RDMA jaccl wants every pair cabled;
 * with less a ring.
 *
 * @param between anything that is null where two ranks have no cable
 */
export function backendOf(
  { nodes, transport, backend }: Pick<DesiredPlacement, 'nodes' | 'transport' | 'backend'>,
  between: RankMatrix,
): Backend {
  if (nodes.length === 1) return 'alone';
  if (backend !== undefined) return backend;
  if (transport === 'tcp') return 'ring';
  return isFullMesh(between) ? 'jaccl' : 'jaccl-ring';
}

/** @see RING_MAX_CONNS in mlx/distributed/jaccl/lib/jaccl/ring_impl.h of mlx 0.32 */
const mostCablesPerHop = 4;

/**
 * How many cables of each hop a ring of JACCL uses: it wants as many on all of them.
 *
 * @param counts of the cables of each hop
 * @see Config::is_valid_ring in mlx/distributed/jaccl/lib/jaccl/jaccl.cpp of mlx 0.32
 */
export const usedPerHop = (counts: readonly number[]): number => Math.min(mostCablesPerHop, ...counts);
