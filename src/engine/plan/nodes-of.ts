import type { NodeName } from '../../model/node.ts';
import type { Property } from '../../rack/resource.ts';

/** Every node that a property lives on, or that a blocker blocks. */
export const nodesOf = ({ node, peers = [] }: Pick<Property, 'node' | 'peers'>): readonly NodeName[] => [
  node,
  ...peers,
];
