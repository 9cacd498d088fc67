import { endAddresses } from '../../desired/links/link-addresses.ts';
import { askedPort } from '../../desired/rank-port.ts';
import type { DesiredModel, DesiredPlacement } from '../../model/desired.ts';
import type { ExoPlacement, StartDialogue } from '../../model/dialogue-call.ts';
import type { NodeName } from '../../model/node.ts';
import { type CabledFleet, linksBetween } from '../contract/link-address.ts';

/** What exo is asked to make of its ranks; on one node alone it knows a pipeline over a ring only. */
export function dialogue(placement: DesiredPlacement, model: DesiredModel, fleet: CabledFleet): StartDialogue {
  const { nodes, sharding, transport } = placement;
  const isOne = nodes.length === 1;
  const bytes = model.files
    .filter(({ path }) => path.endsWith('.safetensors'))
    .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return {
    name: 'exo-place',
    args: {
      nodes,
      port: askedPort(placement),
      modelId: model.repository ?? model.name,
      sharding: sharding === 'tensor' && !isOne ? 'Tensor' : 'Pipeline',
      meta: transport === 'rdma' && !isOne ? 'MlxJaccl' : 'MlxRing',
      bytesPerNode: Math.ceil(bytes / nodes.length),
      ...(transport === 'tcp' && !isOne ? { cables: cablesOf(fleet, nodes) } : {}),
    },
  };
}

/** A pair is left out while one of its cables has no network: not all of its addresses are known then. */
function cablesOf(fleet: CabledFleet, nodes: readonly NodeName[]): NonNullable<ExoPlacement['cables']> {
  return nodes.flatMap((from) =>
    nodes.flatMap((to) => {
      const links = from === to ? [] : linksBetween(fleet, from, to);
      const addresses = links.flatMap(({ index, ends }) => {
        const network = fleet.networks[index];
        const all = network === undefined ? [] : endAddresses(ends, network);
        return all.filter(({ end }) => end.node === to).map(({ address }) => address);
      });
      return links.length === 0 || addresses.length < links.length ? [] : [{ from, to, addresses }];
    }),
  );
}
