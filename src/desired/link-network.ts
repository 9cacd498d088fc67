import type { Ipv4Network } from '../model/desired.ts';
import { type Link, type LinkEnd, linkEndText } from '../model/link.ts';
import { ipv4Number, ipv4Text } from './ipv4.ts';

/** Both ends of a link in the one order that does not depend on how they are written: by node, then by receptacle. */
export function orderedEnds<End extends LinkEnd>([a, b]: readonly [End, End]): readonly [End, End] {
  const isInOrder = a.node === b.node ? a.receptacle <= b.receptacle : a.node < b.node;
  return isInOrder ? [a, b] : [b, a];
}

/** `studio-1:2 <-> studio-2:2`, the one name of a link whichever end is written first. */
export const linkText = (ends: readonly [LinkEnd, LinkEnd]): string => orderedEnds(ends).map(linkEndText).join(' <-> ');

/** One end of a link with its address. */
export interface EndAddress {
  readonly end: LinkEnd;
  readonly address: string;
}

/** The addresses of a link in its /30: the first one for the end that comes first by node and receptacle. */
export function linkAddresses({ ends }: Pick<Link, 'ends'>, network: Ipv4Network): readonly [EndAddress, EndAddress] {
  const first = ipv4Number(network.address) ?? 0;
  const [from, to] = orderedEnds(ends);
  return [
    { end: from, address: ipv4Text(first + 1) },
    { end: to, address: ipv4Text(first + 2) },
  ];
}

/** `10.77.0.0/30`. */
export const networkText = ({ address, prefixLength }: Ipv4Network): string => `${address}/${prefixLength}`;
