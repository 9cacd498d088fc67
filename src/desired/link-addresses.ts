import type { DesiredFleet, Ipv4Network } from '../model/desired.ts';
import { type Link, type LinkEnd, linkEndText } from '../model/link.ts';
import type { NodeName } from '../model/node.ts';
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

/**
 * The address of a node on its first cable to another one; `undefined` when there is no cable, or no network for it
 * yet. Of several cables the first of the file counts.
 */
export function addressTowards(
  thunderbolt: Pick<DesiredFleet['thunderbolt'], 'links' | 'networks'>,
  node: NodeName,
  other: NodeName,
): string | undefined {
  const link = thunderbolt.links.find(({ ends }) => joins(ends, node, other));
  const network = link === undefined ? undefined : thunderbolt.networks[link.index];
  if (link === undefined || network === undefined) return undefined;
  return endAddresses(link.ends, network).find(({ end }) => end.node === node)?.address;
}

const joins = ([a, b]: Link['ends'], node: NodeName, other: NodeName): boolean =>
  (a.node === node && b.node === other) || (a.node === other && b.node === node);
