import type { ModelShape } from '../../../model/model-shape.ts';
import type { TensorBytes } from './safetensors.ts';

/** The bytes of a shape, without what one token takes. */
type Weighed = Pick<
  ModelShape,
  'embeddingBytes' | 'outputBytes' | 'otherBytes' | 'lastNormBytes' | 'largestTensorBytes'
> & {
  readonly layers: readonly { readonly bytes: number; readonly sharded: number }[];
};

/** Adds the tensors up by where they belong. */
export function weighTensors(tensors: readonly TensorBytes[], layerCount: number): Weighed {
  const layers = Array.from({ length: layerCount }, () => ({ bytes: 0, sharded: 0 }));
  const sums = { embedding: 0, output: 0, 'last-norm': 0, other: 0 };
  let largestTensorBytes = 0;
  for (const { name, bytes } of tensors) {
    largestTensorBytes = Math.max(largestTensorBytes, bytes);
    const place = tensorPlace(name, layerCount);
    const layer = place.kind === 'layer' ? layers[place.layer] : undefined;
    if (layer !== undefined && place.kind === 'layer') {
      layer.bytes += bytes;
      layer.sharded += place.isSharded ? bytes : 0;
    } else if (place.kind !== 'layer') sums[place.kind] += bytes;
  }
  return {
    layers,
    embeddingBytes: sums.embedding,
    outputBytes: sums.output,
    otherBytes: sums.other + sums['last-norm'],
    lastNormBytes: sums['last-norm'],
    largestTensorBytes,
  };
}
/** Where a tensor belongs. */
type TensorPlace =
  | { readonly kind: 'layer'; readonly layer: number; readonly isSharded: boolean }
  | { readonly kind: 'embedding' | 'output' | 'last-norm' | 'other' };

/** Encoders of images and sounds have layers of their own, which are not those of the language model. */
const besideLanguage = /vision|visual|image|audio|speech|projector|(?:^|\.)mtp\./;

const layerName = /(?:^|\.)(?:layers|h|blocks|blk)\.(\d{1,4})\./;

/**
 * What stays whole on every rank under tensor sharding: norms, the routers of experts, and the projections into the
 * latent vector of MLA. @see mlx-lm: `shard` of the model classes; ggml names of the same tensors
 */
const wholeInLayer =
  /norm|\.gate\.|router|shared_expert_gate|ffn_gate_inp|q_a_proj|kv_a_proj|attn_q_a|attn_kv_a|indexer/;

/** The place of a tensor by its name, in the names of transformers, MLX and GGUF. */
function tensorPlace(name: string, layerCount: number): TensorPlace {
  if (besideLanguage.test(name)) return { kind: 'other' };
  const layer = Number(layerName.exec(name)?.[1] ?? Number.NaN);
  if (Number.isInteger(layer)) {
    return layer < layerCount
      ? { kind: 'layer', layer, isSharded: !wholeInLayer.test(name) }
      : // A layer behind the last one predicts further tokens: runtimes load it or not, and it belongs to no rank.
        { kind: 'other' };
  }
  if (/embed_tokens|token_embd|wte\.|word_embeddings|tok_embeddings/.test(name) && !/norm/.test(name)) {
    return { kind: 'embedding' };
  }
  if (/(?:^|\.)lm_head\.|^output\.(?!norm)/.test(name)) return { kind: 'output' };
  return /(?:^|\.)(?:norm|final_layernorm|output_norm|ln_f)\./.test(name) ? { kind: 'last-norm' } : { kind: 'other' };
}
