import { ipv4Number } from '../desired/ipv4.ts';
import { judgeProperty } from './change.ts';
import type { Blocker, ObservedTarget, Property, ResourceKind, View } from './resource.ts';

/** Whose interfaces a resource would touch. */
export interface Touching {
  readonly kind: ResourceKind;
  readonly properties: readonly Property[];
  readonly touched: (target: ObservedTarget) => readonly string[];
}

/** Whether the address under which the node is reached belongs to one of these interfaces. */
function isReachedBy({ desired: { host }, facts: { interfaces } }: ObservedTarget, names: readonly string[]): boolean {
  return (
    ipv4Number(host) !== undefined &&
    interfaces.kind === 'known' &&
    interfaces.value.some(({ name, ipv4 }) => names.includes(name) && ipv4.some(({ address }) => address === host))
  );
}

/** Changes that would cut the very connection over which they are made: nobody would be there to take them back. */
export function connectionBlockers({ targets }: View, { kind, properties, touched }: Touching): readonly Blocker[] {
  return targets
    .filter((target) => {
      const isChanged = (one: Property): boolean =>
        one.node === target.desired.name && judgeProperty(one) === 'differs';
      return properties.some(isChanged) && isReachedBy(target, touched(target));
    })
    .map(({ desired: { name: node, host } }) => ({
      code: 'network/carries-connection',
      node,
      resource: kind,
      action: `Write another address of ${node} than ${host} into the file: one of its Ethernet or Wi-Fi.`,
      isHands: false,
      peers: [],
      blocks: [],
    }));
}
