import { isInside } from '../../desired/ipv4.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Ipv4Network } from '../../model/desired.ts';
import type { ExaminedNode } from '../examination.ts';
import { groupBy } from '../group-by.ts';
import { networkText, overlaps } from '../ipv4.ts';
import type { Rule } from '../rule.ts';
import { nodesSubject } from '../subject.ts';
import { interfaceKind, thunderboltInterfaces } from '../thunderbolt-interfaces.ts';

interface Clash {
  readonly node: string;
  readonly where: string;
}

/** Nothing shorter names a network: a VPN that takes everything has routes to the halves of all addresses. */
const shortestNetwork = 8;

/** The networks that the node has an address in. */
function addressClashes(pool: Ipv4Network, { facts }: ExaminedNode): readonly string[] {
  return facts.interfaces.kind === 'unknown'
    ? []
    : facts.interfaces.value
        .filter((one) => interfaceKind(facts, one.name) === 'other')
        .flatMap((one) =>
          one.ipv4
            .filter((address) => overlaps(pool, address))
            .map((address) => `${networkText(address)} of ${one.name}`),
        );
}

/** The networks that the node has a route to; those that an address brings with it are told with the address. */
function routeClashes(pool: Ipv4Network, { facts }: ExaminedNode): readonly string[] {
  const { routes, interfaces } = facts;
  const held = interfaces.kind === 'known' ? interfaces.value : [];
  const isOwn = (network: Ipv4Network, device: string): boolean =>
    held.some((one) => one.name === device && one.ipv4.some((address) => isInside(network, address)));
  return routes.kind === 'unknown'
    ? []
    : routes.value
        .filter(({ device }) => !/^lo\d/.test(device) && interfaceKind(facts, device) === 'other')
        .filter(({ destination }) => destination.prefixLength >= shortestNetwork && overlaps(pool, destination))
        .filter(({ destination, device }) => !isOwn(destination, device))
        .map(({ destination, device }) => `the route to ${networkText(destination)} through ${device}`);
}

/** Silent when the hardware ports are unknown: nobody could tell a Thunderbolt receptacle from the office network. */
function clashes(pool: Ipv4Network, node: ExaminedNode): readonly Clash[] {
  if (thunderboltInterfaces(node.facts) === undefined) {
    return [];
  }
  return [...addressClashes(pool, node), ...routeClashes(pool, node)].map((where) => ({ node: node.name, where }));
}

/** Networks of the office, or of anything but the receptacles, that the pool of link addresses overlaps. */
export const poolOverlap: Rule = ({ desired, nodes }) => {
  const { pool } = desired.thunderbolt;
  if (pool === undefined) {
    return [];
  }
  const found = nodes.flatMap((node) => clashes(pool, node));
  return [...groupBy(found, (clash) => clash.where)].map(([where, same]) =>
    diagnose('address/pool-overlap', {
      subject: nodesSubject([...new Set(same.map((clash) => clash.node))]),
      detail: `The pool ${networkText(pool)} overlaps ${where}.`,
      hint: 'Choose another network for thunderbolt.addressing.pool in the file.',
    }),
  );
};
