import { lanAddress } from '../../../drivers/contract/lan-address.ts';
import type { SeenNames } from '../../../drivers/contract/seen-names.ts';
import type { Facts } from '../../../model/facts/observation.ts';
import type { NodeName } from '../../../model/node.ts';
import { thunderboltInterfaces } from '../../network/thunderbolt-interfaces.ts';
import type { View } from '../../resource.ts';

/** What the observed nodes call things today. */
export const seenNames = ({ observation: { nodes } }: Pick<View, 'observation'>): SeenNames =>
  namesBy((node) => (Object.hasOwn(nodes, node) ? nodes[node]?.facts : undefined));

/** The same for any nodes of which somebody has facts; a device counts where its node has it as an RDMA device. */
export function namesBy(factsOf: (node: NodeName) => Facts | undefined): SeenNames {
  return {
    device: ({ node, receptacle }) => {
      const facts = factsOf(node);
      const device = facts === undefined ? undefined : thunderboltInterfaces(facts)?.get(receptacle);
      return device === undefined ? undefined : `rdma_${device}`;
    },
    lan: (node) => {
      const facts = factsOf(node);
      return facts === undefined ? undefined : lanAddress(facts);
    },
  };
}
