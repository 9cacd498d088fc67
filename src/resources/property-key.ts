import type { NodeName } from '../model/node.ts';

/** `studio-1 power/sleep`: one property of one node, the same in changes, gates and the lists of what waits. */
export const propertyKey = ({ node, address }: { readonly node: NodeName; readonly address: string }): string =>
  `${node} ${address}`;
