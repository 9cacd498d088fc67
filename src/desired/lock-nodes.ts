import type { ClusterLock } from '../model/cluster-lock.ts';

/** A lock that knows these nodes too; a node stays in it until it is forgotten. */
export const withNodes = (lock: ClusterLock, names: readonly string[]): ClusterLock => ({
  ...lock,
  nodes: [...new Set([...lock.nodes, ...names])].sort(),
});

/** A lock that has forgotten a node. */
export const withoutNode = (lock: ClusterLock, name: string): ClusterLock => ({
  ...lock,
  nodes: lock.nodes.filter((other) => other !== name),
});

/**
 * A lock without these former networks: whoever has seen that no node has an address of them any more says so here.
 *
 * @param networks as `10.77.0.4/30`
 */
export function withoutFormerNetworks(lock: ClusterLock, networks: readonly string[]): ClusterLock {
  const kept = Object.entries(lock.formerNetworks).filter(([network]) => !networks.includes(network));
  return { ...lock, formerNetworks: Object.fromEntries(kept) };
}
