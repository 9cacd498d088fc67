import type { DesiredFleet } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';

/** Whether the file needs RDMA on this node: by `thunderbolt.rdma: required`, or for a placement of several nodes. */
export const needsRdma = ({ thunderbolt, placements }: DesiredFleet, node: NodeName): boolean =>
  thunderbolt.rdma === 'required' ||
  placements.some(({ transport, nodes }) => transport === 'rdma' && nodes.length > 1 && nodes.includes(node));
