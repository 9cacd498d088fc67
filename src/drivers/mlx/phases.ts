import type { DesiredPlacement } from '../../model/desired.ts';
import type { StartPhase } from '../contract/driver.ts';

/**
 * Over JACCL the leader first, until it listens where the ranks meet: the others try four times within fifteen seconds,
 * so they are started only then, all at once. That it listens is looked up on its own node, since a connection to that
 * port counts as a rank. Over sockets each rank listens for one neighbour and tries the other for half a minute, and
 * nobody is first.
 *
 * @see TCPAllGather in mlx/distributed/jaccl/lib/jaccl/rdma.cpp and RingGroup in mlx/distributed/ring/ring.cpp
 */
export function phases({ nodes, transport }: Pick<DesiredPlacement, 'nodes' | 'transport'>): readonly StartPhase[] {
  if (transport === 'tcp' || nodes.length === 1) return [{ ranks: 'all', until: 'joined' }];
  return [
    { ranks: 'leader', until: 'meeting' },
    { ranks: 'followers', until: 'joined' },
  ];
}
