import { judgeProperty } from '../../change.ts';
import { read } from '../../fact.ts';
import type { Blocker, ObservedTarget, Property, View } from '../../resource.ts';
import type { ResourceKind } from '../../resource-kind.ts';
import { interfacesFact } from '../interfaces-fact.ts';

/** Whose interfaces a resource would touch. */
export interface Touching {
  readonly kind: ResourceKind;
  readonly properties: readonly Property[];
  /** The interfaces that these changes touch. */
  readonly touched: (target: ObservedTarget, changed: readonly Property[]) => readonly string[];
}

/**
 * Whether one of these interfaces carries the connection: by what sshd told the node, or by the address in the file,
 * which a jump host or a tunnel may hide from it.
 */
function isReachedBy({ desired: { host }, facts }: ObservedTarget, names: readonly string[]): boolean {
  const interfaces = read(facts, interfacesFact);
  const touched = interfaces.kind === 'known' ? interfaces.value.filter(({ name }) => names.includes(name)) : [];
  return touched.some(
    ({ carriesConnection, ipv4 }) => carriesConnection === true || ipv4.some(({ address }) => address === host),
  );
}

/** Changes that would cut the very connection over which they are made: nobody would be there to take them back. */
export function connectionBlockers({ targets }: View, { kind, properties, touched }: Touching): readonly Blocker[] {
  return targets
    .filter((target) => {
      const own = properties.filter(({ node }) => node === target.desired.name);
      const changed = own.filter((one) => judgeProperty(one) === 'differs');
      return isReachedBy(target, touched(target, changed));
    })
    .map(({ desired: { name: node, host } }) => ({
      code: 'network/carries-connection',
      node,
      resource: kind,
      action: `${node} is reached over its Thunderbolt (${host}): write an address of its Ethernet or Wi-Fi into the file.`,
      isHands: false,
      peers: [],
      blocks: [],
    }));
}
