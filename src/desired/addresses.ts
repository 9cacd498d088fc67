import type { DesiredFleet, Ipv4Network } from '../model/desired.ts';
import { ipv4Number, ipv4Text, ipv6Groups } from '../model/ip-address.ts';
import { type Link, type LinkEnd, linkEndText, nodeName } from '../model/node.ts';

const endForm = /^([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?):([1-9][0-9]?)$/;

/** Parses one receptacle of a node (`studio-1:2`); returns undefined for any other text. */
export function parseLinkEnd(text: string): LinkEnd | undefined {
  const match = endForm.exec(text);
  return match === null ? undefined : { node: nodeName(match[1] ?? ''), receptacle: Number(match[2]) };
}

/** Parses a cable (`studio-1:2 <-> studio-2:2`); returns undefined for any other text. */
export function parseLink(text: string): readonly [LinkEnd, LinkEnd] | undefined {
  const halves = text.split('<->');
  const first = parseLinkEnd((halves[0] ?? '').trimEnd());
  const second = parseLinkEnd((halves[1] ?? '').trimStart());
  return halves.length !== 2 || first === undefined || second === undefined ? undefined : [first, second];
}

/** A link's canonical name, regardless of the order of its ends: `studio-1:2 <-> studio-2:2`. */
export const linkText = (ends: readonly [LinkEnd, LinkEnd]): string => ends.map(linkEndText).sort().join(' <-> ');

export const networkText = ({ address, prefixLength }: Ipv4Network): string => `${address}/${prefixLength}`;

/**
 * A link's ends with their fixed addresses in its /30. The end whose text sorts first gets the first host address, so
 * the order of the ends in the file does not matter.
 *
 * @example // studio-2:2 <-> studio-1:2 in 10.77.0.0/30: studio-1:2 has 10.77.0.1, studio-2:2 has 10.77.0.2
 */
export function endAddresses(ends: Link['ends'], network: Ipv4Network) {
  const first = ipv4Number(firstAddress(network)) ?? 0;
  return ends
    .toSorted((a, b) => (linkEndText(a) < linkEndText(b) ? -1 : 1))
    .map((end, index) => ({ end, address: ipv4Text(first + 1 + index) }));
}

/** The ends of all links that have a network, with their addresses. */
export const linkAddresses = ({ links, networks }: Pick<DesiredFleet['thunderbolt'], 'links' | 'networks'>) =>
  links.flatMap((link) => {
    const network = networks[link.index];
    const ends = network === undefined ? [] : endAddresses(link.ends, network);
    return ends.map((one) => ({ ...one, prefixLength: network?.prefixLength ?? 0, link }));
  });

/**
 * Returns a host's canonical form, so that its different spellings are equal: names in lower case without a final dot,
 * IPv6 as eight groups. Returns undefined for an invalid text that looks like an address.
 */
export function canonicalAddress(host: string): string | undefined {
  if (host.includes(':')) return canonicalIpv6(host);
  const name = host.toLowerCase().replace(/\.$/, '');
  // Programs read a name as an IPv4 address if its last part is a decimal or hexadecimal number.
  const looksLikeIpv4 = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/.test(name);
  return looksLikeIpv4 && ipv4Number(name) === undefined ? undefined : name;
}

function canonicalIpv6(host: string): string | undefined {
  const [address = '', zone, ...rest] = host.toLowerCase().split('%');
  if (rest.length > 0 || zone === '') return undefined;
  const text = ipv6Groups(address)
    ?.map((group) => group.toString(16))
    .join(':');
  return text === undefined || zone === undefined ? text : `${text}%${zone}`;
}

/** The number of addresses in a network with this prefix length. */
export const networkSize = (prefixLength: number): number => 2 ** (32 - prefixLength);

/** Parses `10.77.0.0/24`, where the address can be any in the network. Returns undefined for any other text. */
export function parseIpv4Network(text: string): Ipv4Network | undefined {
  const [address = '', prefix = '', ...rest] = text.split('/');
  if (rest.length > 0 || ipv4Number(address) === undefined || !/^(?:0|[1-9][0-9]?)$/.test(prefix)) return undefined;
  const prefixLength = Number(prefix);
  return prefixLength > 32 ? undefined : { address, prefixLength };
}

export function firstAddress(network: Ipv4Network): string {
  const value = ipv4Number(network.address) ?? 0;
  return ipv4Text(value - (value % networkSize(network.prefixLength)));
}

export function isInside(inner: Ipv4Network, outer: Ipv4Network): boolean {
  const size = networkSize(outer.prefixLength);
  const at = (network: Ipv4Network): number => Math.floor((ipv4Number(network.address) ?? 0) / size);
  return inner.prefixLength >= outer.prefixLength && at(inner) === at(outer);
}
