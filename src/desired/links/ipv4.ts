import type { Ipv4Network } from '../../model/desired.ts';

/** The number of an IPv4 address, 0 to 2^32-1; undefined unless it is four plain decimal numbers. */
export function ipv4Number(text: string): number | undefined {
  if (!/^(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})$/.test(text)) return undefined;
  const octets = text.split('.').map(Number);
  return octets.some((octet) => octet > 255) ? undefined : octets.reduce((sum, octet) => sum * 256 + octet, 0);
}

/** The dotted form of an address number. */
export const ipv4Text = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');

/** How many addresses a network of this prefix length has. */
export const networkSize = (prefixLength: number): number => 2 ** (32 - prefixLength);

/** Reads `10.77.0.0/24`; the address need not be the first one. Undefined for anything that is no IPv4 address and prefix. */
export function parseIpv4Network(text: string): Ipv4Network | undefined {
  const [address = '', prefix = '', ...rest] = text.split('/');
  if (rest.length > 0 || ipv4Number(address) === undefined || !/^(?:0|[1-9][0-9]?)$/.test(prefix)) return undefined;
  const prefixLength = Number(prefix);
  return prefixLength > 32 ? undefined : { address, prefixLength };
}

/** The first address of the network in which an address lies. */
export function firstAddress(network: Ipv4Network): string {
  const value = ipv4Number(network.address) ?? 0;
  return ipv4Text(value - (value % networkSize(network.prefixLength)));
}

/** Whether the inner network lies wholly inside the outer one. */
export function isInside(inner: Ipv4Network, outer: Ipv4Network): boolean {
  const size = networkSize(outer.prefixLength);
  const at = (network: Ipv4Network): number => Math.floor((ipv4Number(network.address) ?? 0) / size);
  return inner.prefixLength >= outer.prefixLength && at(inner) === at(outer);
}
