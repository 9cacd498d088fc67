/** Where a tensor belongs. */
export type TensorPlace =
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
export function tensorPlace(name: string, layerCount: number): TensorPlace {
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
