import type { Ipv4Network } from '../../model/desired.ts';
import { type Link, type LinkEnd, linkEndText } from '../../model/link.ts';
import { firstAddress, ipv4Number, ipv4Text } from './ipv4.ts';

/** One end of a link with its fixed address. */
export interface EndAddress {
  readonly end: LinkEnd;
  readonly address: string;
}

/**
 * The addresses of a link in its /30: the first host for the end whose text comes first, so that the order in which
 * the file writes the ends has no meaning.
 *
 * @example
 * // studio-2:2 <-> studio-1:2 in 10.77.0.0/30: studio-1:2 has 10.77.0.1, studio-2:2 has 10.77.0.2
 */
export function endAddresses(ends: Link['ends'], network: Ipv4Network): readonly EndAddress[] {
  const first = ipv4Number(firstAddress(network)) ?? 0;
  return ends
    .toSorted((a, b) => (linkEndText(a) < linkEndText(b) ? -1 : 1))
    .map((end, index) => ({ end, address: ipv4Text(first + 1 + index) }));
}
