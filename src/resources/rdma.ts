import { needsRdma } from '../desired/needs-rdma.ts';
import { nodeRdma } from '../doctor/rdma-node.ts';
import type { Gap, Resource, View } from './resource.ts';
import { verifyOnly } from './verify-only.ts';

/** Cabled targets that need RDMA and of which nobody can say whether they can do it. */
function gaps({ desired, examination, targets }: View): readonly Gap[] {
  const isTarget = (name: string): boolean => targets.some((target) => target.desired.name === name);
  return examination.nodes
    .filter((node) => isTarget(node.name) && node.ends.length > 0 && needsRdma(desired, node.name))
    .filter((node) => nodeRdma(node) === 'unknown')
    .map(({ name: node, facts }) => ({
      node,
      resource: 'rdma',
      text: facts['rdma-state'].kind === 'unknown' ? 'whether RDMA is enabled' : 'which RDMA devices there are',
    }));
}

/** RDMA over Thunderbolt, where the file needs it. Only a person can enable it, so that is always a manual step. */
export const rdma: Resource = verifyOnly({ kind: 'rdma', after: ['identity', 'macos'], gaps });
