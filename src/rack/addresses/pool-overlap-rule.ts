import { linkText } from '../../desired/addresses.ts';
import { isPoolLeft } from '../../desired/settle/settle-links.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { DesiredFleet, Ipv4Network } from '../../model/desired.ts';
import { groupBy } from '../../model/lists.ts';
import { nodesSubject } from '../../model/subject.ts';
import { defineRule } from '../define-rule.ts';
import { interfacesFact } from '../network/interfaces-fact.ts';
import { routesFact } from '../network/routes-fact.ts';
import { networkText, overlaps } from './ipv4.ts';
import { type OfficeNetwork, officeNetworks } from './office-networks.ts';

/** The network of a link that this one gets into the way of, in words; undefined where it hits none. */
function hitBy({ links, networks }: DesiredFleet['thunderbolt'], { network }: OfficeNetwork): string | undefined {
  const hit = links.find(({ index }) => networks[index] !== undefined && overlaps(networks[index], network));
  const own = hit === undefined ? undefined : networks[hit.index];
  return hit === undefined || own === undefined ? undefined : `${networkText(own)} of ${linkText(hit.ends)}`;
}

const moveOffice = ({ network }: OfficeNetwork, pool: Ipv4Network): string =>
  `Give ${networkText(network)} other addresses, or choose another pool than ${networkText(pool)} in the file: thunderbolt.addressing.pool.`;

/** What is to be said of a network of the office inside the pool, where anything is. */
function told(
  thunderbolt: DesiredFleet['thunderbolt'],
  pool: Ipv4Network,
  one: OfficeNetwork,
  seen: readonly Ipv4Network[],
) {
  const hit = hitBy(thunderbolt, one);
  if (hit !== undefined)
    return {
      detail: `${hit} overlaps ${one.where}.`,
      hint: `What is given out never moves by itself. ${moveOffice(one, pool)}`,
    };
  const isSettled = thunderbolt.links.every(({ index }) => thunderbolt.networks[index] !== undefined);
  return isSettled || isPoolLeft(thunderbolt, seen)
    ? undefined
    : {
        detail: `The pool ${networkText(pool)} overlaps ${one.where}, and has no network left for every link.`,
        hint: moveOffice(one, pool),
      };
}

/**
 * Networks of the office, or of anything but the receptacles, that the pool of link addresses overlaps, where that
 * hits a link, or leaves too little. What lies elsewhere in the pool is only given to nobody.
 */
export const poolOverlap = defineRule(
  {
    'address/pool-overlap': {
      severity: 'error',
      summary: 'The address pool of the links overlaps a network that nodes are in, or have a route to.',
      cause:
        'An interface other than a Thunderbolt receptacle has an address in the network of a link, or a route leads there, or they leave no network of thunderbolt.addressing.pool for every link: what was meant for that network would go over a cable. Networks of the pool that others use are given to no new link; what was given out stays.',
      hint: 'Choose another pool in the file.',
      role: { blocks: 'link-address' },
      facts: [interfacesFact, routesFact],
    },
  },
  ({ desired, nodes }, codes) => {
    const { thunderbolt } = desired;
    const { pool } = thunderbolt;
    if (pool === undefined) return [];
    const found = nodes.flatMap(({ name, facts }) =>
      officeNetworks(facts)
        .filter(({ network }) => overlaps(pool, network))
        .map((one) => ({ node: name, ...one })),
    );
    const seen = found.map(({ network }) => network);
    return [...groupBy(found, ({ where }) => where)].flatMap(([, same]) => {
      const [first] = same;
      const words = first === undefined ? undefined : told(thunderbolt, pool, first, seen);
      const subject = nodesSubject([...new Set(same.map(({ node }) => node))]);
      return words === undefined ? [] : [diagnose(codes['address/pool-overlap'], { subject, ...words })];
    });
  },
);
