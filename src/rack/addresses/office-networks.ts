import { isInside } from '../../desired/addresses.ts';
import type { Ipv4Network } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { read, readValue } from '../fact.ts';
import { interfacesFact, routesFact } from '../network/interfaces-fact.ts';
import { interfaceKind, thunderboltInterfaces } from '../network/thunderbolt-interfaces.ts';

/** A network of the office, or of anything but the receptacles, as one node sees it. */
export interface OfficeNetwork {
  readonly network: Ipv4Network;
  /** `10.0.0.0/24 of en0`, `the route to 10.0.0.0/8 through utun3`. */
  readonly where: string;
}

/** Nothing shorter names a network: a VPN that takes everything has routes to the halves of all addresses. */
const shortestNetwork = 8;

/** The networks that the node has an address in. */
const ofAddresses = (facts: Facts): readonly OfficeNetwork[] =>
  (readValue(facts, interfacesFact) ?? [])
    .filter((one) => interfaceKind(facts, one.name) === 'other')
    .flatMap((one) => one.ipv4.map((network) => ({ network, where: `${networkText(network)} of ${one.name}` })));

/** The networks that the node has a route to; those that an address brings with it are told with the address. */
function ofRoutes(facts: Facts): readonly OfficeNetwork[] {
  const held = readValue(facts, interfacesFact) ?? [];
  const isOwn = (network: Ipv4Network, device: string): boolean =>
    held.some((one) => one.name === device && one.ipv4.some((address) => isInside(network, address)));
  return (readValue(facts, routesFact) ?? [])
    .filter(({ device }) => !/^lo\d/.test(device) && interfaceKind(facts, device) === 'other')
    .filter(({ destination }) => destination.prefixLength >= shortestNetwork)
    .filter(({ destination, device }) => !isOwn(destination, device))
    .map(({ destination: network, device }) => ({
      network,
      where: `the route to ${networkText(network)} through ${device}`,
    }));
}

/**
 * Every network that addresses of links would get into the way of, as this node sees it. Empty while the hardware ports
 * are unknown: nobody could tell a Thunderbolt receptacle from the office network.
 */
export const officeNetworks = (facts: Facts): readonly OfficeNetwork[] =>
  thunderboltInterfaces(facts) === undefined ? [] : [...ofAddresses(facts), ...ofRoutes(facts)];

/** Whether everything was seen that {@link officeNetworks} follows from: then what it lacks is not in use. */
export const areNetworksSeen = (facts: Facts): boolean =>
  thunderboltInterfaces(facts) !== undefined &&
  read(facts, interfacesFact).kind === 'known' &&
  read(facts, routesFact).kind === 'known';

function toNumber(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

const blockSize = (prefixLength: number): number => 2 ** (32 - prefixLength);

const firstOf = ({ address, prefixLength }: Ipv4Network): number =>
  Math.floor(toNumber(address) / blockSize(prefixLength)) * blockSize(prefixLength);

/** Whether two IPv4 networks share an address; host bits have no meaning. */
export function overlaps(a: Ipv4Network, b: Ipv4Network): boolean {
  const [startA, startB] = [firstOf(a), firstOf(b)];
  return startA < startB + blockSize(b.prefixLength) && startB < startA + blockSize(a.prefixLength);
}

/** `10.77.0.0/24`, without host bits. */
export function networkText(network: Ipv4Network): string {
  const first = firstOf(network);
  const parts = [2 ** 24, 2 ** 16, 2 ** 8, 1].map((weight) => Math.floor(first / weight) % 256);
  return `${parts.join('.')}/${network.prefixLength}`;
}
