import type { LinkEnd } from '../../model/node.ts';
import { linkAt } from '../cabling/judge-cabling.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { nodeRdma } from './rdma-node.ts';
import { receptacleRdma } from './rdma-receptacle.ts';

/** A port that is down, and the end of the cable where the Mac stands that may keep it so. */
export interface LostPort {
  readonly end: LinkEnd;
  readonly far: LinkEnd;
}

/** The ports of a node that are down although its cable is as declared. */
export function lostPorts(examination: Examination, node: ExaminedNode): readonly LostPort[] {
  if (nodeRdma(node) !== 'ready') return [];
  return node.ends.flatMap((end): LostPort[] => {
    if (linkAt(examination.cabling.links, end)?.judgement.kind !== 'as-declared') return [];
    const rdma = receptacleRdma(examination, node, end);
    return rdma.kind === 'port-down' ? [{ end, far: rdma.far }] : [];
  });
}
