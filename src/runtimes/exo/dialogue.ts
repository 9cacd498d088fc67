import { askedPort } from '../../desired/rank-port.ts';
import type { DesiredModel, DesiredPlacement } from '../../model/desired.ts';
import type { StartDialogue } from '../../model/dialogue-call.ts';

/** What exo is asked to make of its ranks; on one node alone it knows a pipeline over a ring only. */
export function dialogue(placement: DesiredPlacement, model: DesiredModel): StartDialogue {
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
    },
  };
}
