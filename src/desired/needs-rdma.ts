import type { DesiredFleet } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';
import { layoutsOf } from './fallback.ts';

/**
 * Whether the file needs RDMA on this node: by `thunderbolt.rdma: required`, or for a placement that is on it, or would
 * be with its fallback.
 */
export const needsRdma = ({ thunderbolt, placements }: DesiredFleet, node: NodeName): boolean =>
  thunderbolt.rdma === 'required' ||
  placements.flatMap(layoutsOf).some(({ transport, nodes }) => transport === 'rdma' && nodes.includes(node));
