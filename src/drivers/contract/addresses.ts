import { endAddresses, linkText } from '../../desired/addresses.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { Link, LinkEnd, NodeName } from '../../model/node.ts';

/** What addresses follow from. */
export type CabledFleet = Pick<DesiredFleet['thunderbolt'], 'links' | 'networks'>;

/**
 * The address of a node on its cable to another one; `undefined` when no cable is declared, or none has a network yet.
 * Of several cables that one counts whose text comes first, so that the order of the file has no meaning.
 */
export function addressTowards(fleet: CabledFleet, node: NodeName, other: NodeName): string | undefined {
  const link = linkBetween(fleet, node, other);
  const network = link === undefined ? undefined : fleet.networks[link.index];
  if (link === undefined || network === undefined) return undefined;
  return endAddresses(link.ends, network).find(({ end }) => end.node === node)?.address;
}

/** The cable that counts between two nodes. */
const linkBetween = (fleet: Pick<CabledFleet, 'links'>, node: NodeName, other: NodeName): Link | undefined =>
  linksBetween(fleet, node, other)[0];

/** Every cable between two nodes, in the same order from both of them. */
export const linksBetween = ({ links }: Pick<CabledFleet, 'links'>, node: NodeName, other: NodeName): readonly Link[] =>
  links
    .filter(({ ends }) => joins(ends, node, other))
    .toSorted((a, b) => (linkText(a.ends) < linkText(b.ends) ? -1 : 1));

/** The end of the cable that counts, on the first of two nodes; `undefined` where no cable is declared. */
export const endTowards = (fleet: Pick<CabledFleet, 'links'>, node: NodeName, other: NodeName): LinkEnd | undefined =>
  linkBetween(fleet, node, other)?.ends.find((end) => end.node === node);

const joins = ([a, b]: Link['ends'], node: NodeName, other: NodeName): boolean =>
  (a.node === node && b.node === other) || (a.node === other && b.node === node);

const loopback = '127.0.0.1';

/**
 * The address of each rank on the cable from the rank before it, of rank 0 from the last one; 127.0.0.1 for a single
 * rank. `undefined` when one of these cables is missing.
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
