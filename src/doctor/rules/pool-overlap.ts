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

/** Silent when the hardware ports are unknown: nobody could tell a Thunderbolt receptacle from the office network. */
function clashes(pool: Ipv4Network, { name, facts }: ExaminedNode): readonly Clash[] {
  if (facts.interfaces.kind === 'unknown' || thunderboltInterfaces(facts) === undefined) {
    return [];
  }
  return facts.interfaces.value
    .filter((one) => interfaceKind(facts, one.name) === 'other')
    .flatMap((one) =>
      one.ipv4
        .filter((address) => overlaps(pool, address))
        .map((address) => ({ node: name, where: `${networkText(address)} of ${one.name}` })),
    );
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
