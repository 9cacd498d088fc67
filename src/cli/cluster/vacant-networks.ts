import { isInside, parseIpv4Network } from '../../desired/links/ipv4.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import type { DesiredFleet, Ipv4Network } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/observation.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';

/**
 * The former networks of which no node of the fleet has an address any more, live or kept, as `10.77.0.4/30`. Only a
 * look at all nodes can say so: one that nobody has seen may have one still.
 */
export function vacantNetworks(
  lock: ClusterLock,
  fleet: DesiredFleet,
  observation: FleetObservation,
): readonly string[] {
  const facts = fleet.nodes.map(({ name }) => observation.nodes[name]?.facts);
  return Object.keys(lock.formerNetworks).filter((text) => {
    const network = parseIpv4Network(text);
    return network !== undefined && facts.every((one) => one !== undefined && isVacant(network, one));
  });
}

function isVacant(network: Ipv4Network, facts: Facts): boolean {
  const { interfaces, 'service-addresses': kept } = facts;
  if (interfaces.kind === 'unknown' || kept.kind === 'unknown') return false;
  const live = interfaces.value.flatMap(({ ipv4 }) => ipv4);
  const held = [...live, ...kept.value.flatMap(({ address }) => address ?? [])];
  return held.every(({ address }) => !isInside({ address, prefixLength: 32 }, network));
}
