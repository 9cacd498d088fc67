import type { ClusterLock } from '../../model/cluster-lock.ts';
import type { Digest } from '../../model/digest.ts';

/** A lock that knows these nodes too; a node stays in it until it is forgotten. */
export const withNodes = (lock: ClusterLock, names: readonly string[]): ClusterLock => ({
  ...lock,
  nodes: [...new Set([...lock.nodes, ...names])].sort(),
});

/** A lock that also says which Mac these nodes are; of a node that it knows already nothing changes. */
export const withIdentities = (lock: ClusterLock, seen: Readonly<Record<string, Digest>>): ClusterLock =>
  Object.keys(seen).length === 0 ? lock : { ...lock, identities: { ...seen, ...lock.identities } };

/** A lock by which this node is another Mac than before. */
export const withOtherMac = (lock: ClusterLock, name: string, identity: Digest): ClusterLock => ({
  ...withoutWithdrawal(lock, [name]),
  identities: { ...lock.identities, [name]: identity },
});

/** A lock by which the way into a node is being taken away. */
export const withWithdrawal = (lock: ClusterLock, name: string): ClusterLock => ({
  ...lock,
  withdrawing: [...new Set([...(lock.withdrawing ?? []), name])].sort(),
});

/** A lock for nodes that somebody got into again. */
export const withoutWithdrawal = (
  { withdrawing = [], ...lock }: ClusterLock,
  names: readonly string[],
): ClusterLock => {
  const kept = withdrawing.filter((name) => !names.includes(name));
  return { ...lock, ...(kept.length === 0 ? {} : { withdrawing: kept }) };
};

/** A lock that has forgotten a node. */
export const withoutNode = (known: ClusterLock, name: string): ClusterLock => {
  const { identities, ...lock } = withoutWithdrawal(known, [name]);
  const kept = Object.entries(identities ?? {}).filter(([other]) => other !== name);
  return {
    ...lock,
    nodes: lock.nodes.filter((other) => other !== name),
    ...(kept.length === 0 ? {} : { identities: Object.fromEntries(kept) }),
  };
};

/**
 * A lock without these former networks: whoever has seen that no node has an address of them any more says so here.
 *
 * @param networks as `10.77.0.4/30`
 */
export function withoutFormerNetworks(lock: ClusterLock, networks: readonly string[]): ClusterLock {
  const kept = Object.entries(lock.formerNetworks).filter(([network]) => !networks.includes(network));
  return { ...lock, formerNetworks: Object.fromEntries(kept) };
}
