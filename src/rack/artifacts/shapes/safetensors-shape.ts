import { given } from '../../../model/given.ts';
import type { AttentionShape, ModelShape, ShapeFact } from '../../../model/model-shape.ts';

import {
  type ConfigFields,
  configFields,
  countOf,
  layerCaches,
  membersOf,
  nameOf,
  namesOf,
  stateBytes,
} from './layer-cache.ts';
import type { TensorBytes } from './safetensors.ts';
import { weighTensors } from './weigh-tensors.ts';

/** More layers than any model has. */
export const mostLayers = 2_048;

/** The shape of a model from its `config.json` and the tensors of all its safetensors files. */
export function safetensorsShape(config: string, tensors: readonly TensorBytes[]): ShapeFact {
  const fields = configFields(config);
  if (fields === undefined) return { kind: 'unknown', why: 'its config.json is no JSON object' };
  const layerCount = countOf(fields, 'num_hidden_layers', 'n_layer', 'num_layers');
  const hidden = countOf(fields, 'hidden_size', 'n_embd', 'd_model');
  const heads = countOf(fields, 'num_attention_heads', 'n_head');
  if (layerCount === undefined || hidden === undefined || heads === undefined) {
    return { kind: 'unknown', why: 'its config.json does not say layers, hidden size and heads' };
  }
  if (layerCount > mostLayers) return { kind: 'unknown', why: `its config.json says ${layerCount} layers` };
  const weighed = weighTensors(tensors, layerCount);
  if (weighed.layers.some(({ bytes }) => bytes === 0)) {
    return { kind: 'unknown', why: `its files do not have the ${layerCount} layers that its config.json says` };
  }
  const { caches, ...dimensions } = dimensionsOf(fields, { layerCount, hidden, heads });
  const linear = caches.filter(({ cachePerToken }) => cachePerToken === 0).length;
  const shape: ModelShape = {
    format: 'safetensors',
    ...dimensions,
    ...weighed,
    layers: weighed.layers.map((layer, index) => ({ ...layer, ...(caches[index] ?? { cachePerToken: 0 }) })),
    stateBytes: stateBytes(fields, linear),
  };
  return { kind: 'known', shape };
}

function attentionOf(fields: ConfigFields): AttentionShape {
  const latentDim = countOf(fields, 'kv_lora_rank');
  return latentDim === undefined
    ? { kind: 'gqa' }
    : { kind: 'mla', latentDim, ropeDim: countOf(fields, 'qk_rope_head_dim') ?? 0 };
}

interface Basics {
  readonly layerCount: number;
  readonly hidden: number;
  readonly heads: number;
}

function dimensionsOf(fields: ConfigFields, { layerCount, hidden, heads }: Basics) {
  const attention = attentionOf(fields);
  const classes = namesOf(fields, 'architectures');
  const kvHeads = countOf(fields, 'num_key_value_heads', 'num_kv_heads') ?? heads;
  const headDim = countOf(fields, 'head_dim') ?? Math.max(1, Math.floor(hidden / heads));
  const [vocabulary, maxContext] = [
    countOf(fields, 'vocab_size'),
    countOf(fields, 'max_position_embeddings', 'n_positions'),
  ];
  return {
    architecture: nameOf(fields, 'model_type') ?? 'unknown',
    ...(classes.length === 0 ? {} : { classes }),
    hidden,
    heads,
    kvHeads,
    headDim,
    attention,
    ...given({ vocabulary, maxContext }),
    dims: dimsOf(fields),
    ...quantOf(fields),
    hasOwnCode: membersOf(fields.get('auto_map')).size > 0,
    caches: layerCaches(fields, layerCount, { kvHeads, keyDim: headDim, valueDim: headDim, attention }),
  };
}

function dimsOf(fields: ConfigFields): ModelShape['dims'] {
  const intermediate = countOf(fields, 'intermediate_size', 'ffn_hidden_size');
  const moeIntermediate = countOf(fields, 'moe_intermediate_size');
  const sharedIntermediate = countOf(fields, 'shared_expert_intermediate_size');
  return {
    ...given({ intermediate, moeIntermediate, sharedIntermediate }),
  };
}

/** That of MLX; files that were quantised by others are not sharded by it. */
function quantOf(fields: ConfigFields): Pick<ModelShape, 'quant'> {
  const quantisation = membersOf(fields.get('quantization'));
  const [bits, group] = [countOf(quantisation, 'bits'), countOf(quantisation, 'group_size')];
  return bits === undefined || group === undefined ? {} : { quant: { bits, group } };
}
