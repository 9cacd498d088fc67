import { endAddresses, linkText } from '../../desired/addresses.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { Link, LinkEnd, NodeName } from '../../model/node.ts';

export type CabledFleet = Pick<DesiredFleet['thunderbolt'], 'links' | 'networks'>;

/**
 * A node's address on its cable to another node; `undefined` if no cable is declared, or if no cable has a network yet.
 * If there are several cables, the one whose text sorts first is used, so the file's order does not matter.
 */
export function addressTowards(fleet: CabledFleet, node: NodeName, other: NodeName): string | undefined {
  const link = linkBetween(fleet, node, other);
  const network = link === undefined ? undefined : fleet.networks[link.index];
  if (link === undefined || network === undefined) return undefined;
  return endAddresses(link.ends, network).find(({ end }) => end.node === node)?.address;
}

/** The cable used for addresses and devices between two nodes. */
const linkBetween = (fleet: Pick<CabledFleet, 'links'>, node: NodeName, other: NodeName): Link | undefined =>
  linksBetween(fleet, node, other)[0];

/** All cables between two nodes, in the same order from either side. */
export const linksBetween = ({ links }: Pick<CabledFleet, 'links'>, node: NodeName, other: NodeName): readonly Link[] =>
  links
    .filter(({ ends }) => joins(ends, node, other))
    .toSorted((a, b) => (linkText(a.ends) < linkText(b.ends) ? -1 : 1));

/** The first node's end of the cable to the second; `undefined` if no cable is declared. */
export const endTowards = (fleet: Pick<CabledFleet, 'links'>, node: NodeName, other: NodeName): LinkEnd | undefined =>
  linkBetween(fleet, node, other)?.ends.find((end) => end.node === node);

const joins = ([a, b]: Link['ends'], node: NodeName, other: NodeName): boolean =>
  (a.node === node && b.node === other) || (a.node === other && b.node === node);

const loopback = '127.0.0.1';

/**
 * Each rank's address on the cable from the previous rank (rank 0: from the last rank); 127.0.0.1 for a single rank.
 * `undefined` if one of these cables is missing.
 *
 * @param nodes in rank order
 */
export function rankAddresses(fleet: CabledFleet, nodes: readonly NodeName[]): readonly string[] | undefined {
  if (nodes.length === 1) return [loopback];
  const addresses = nodes.flatMap((node, rank) => {
    const before = nodes.at(rank - 1);
    return before === undefined ? [] : (addressTowards(fleet, node, before) ?? []);
  });
  return addresses.length === nodes.length ? addresses : undefined;
}
