import type { NodeName } from '../model/node.ts';

/** `studio-1 power/sleep`: one property of one node, the same in changes, gates and the lists of what waits. */
export const propertyKey = ({ node, address }: { readonly node: NodeName; readonly address: string }): string =>
  `${node} ${address}`;

/** The node and the address in a key that a journal has kept. */
export function readPropertyKey(key: string): { readonly node: string; readonly address: string } {
  const [node = '', ...address] = key.split(' ');
  return { node, address: address.join(' ') };
}
