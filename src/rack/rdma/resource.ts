import { needsRdma } from '../../desired/layouts.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { read } from '../fact.ts';
import { type Resource, type UnobservedDependency, type View, verifyOnly } from '../resource.ts';
import { rdmaDevicesFact } from './devices-fact.ts';
import { nodeRdma } from './receptacle-reading.ts';
import { rdmaStateFact } from './state-fact.ts';

function unobserved({ desired, examination, targets }: View): readonly UnobservedDependency[] {
  const isTarget = (name: string): boolean => targets.some((target) => target.desired.name === name);
  return examination.nodes
    .filter((node) => isTarget(node.name) && node.ends.length > 0 && needsRdma(desired, node.name))
    .filter((node) => nodeRdma(node) === 'unknown')
    .map(({ name: node, facts }) => ({ node, resource: 'rdma', text: unseen(facts) }));
}

function unseen(facts: Facts): string {
  const devices = read(facts, rdmaDevicesFact);
  if (read(facts, rdmaStateFact).kind === 'unknown') return 'whether RDMA is enabled';
  return devices.kind === 'unknown' ? 'which RDMA devices exist' : 'whether the RDMA switch is on';
}

/** RDMA over Thunderbolt, if the file needs it. Only a person can enable it, so it is always a manual step. */
export const rdma: Resource = verifyOnly({ kind: 'rdma', after: ['identity', 'macos'], unobserved });
