/** The sizes of one layer of a model. */
export interface LayerShape {
  /** Total bytes of the layer's tensors. */
  readonly bytes: number;
  /** The bytes that tensor sharding splits; every rank has a full copy of the others. */
  readonly sharded: number;
  /** Cache bytes per context token; 0 if the layer has a fixed-size state instead. */
  readonly cachePerToken: number;
  /** The attention window in tokens; absent if attention covers the whole context. */
  readonly window?: number;
}

/** The attention type: key-value heads, or one latent vector per token, which sharding cannot divide. */
export type AttentionShape =
  | { readonly kind: 'gqa' }
  | { readonly kind: 'mla'; readonly latentDim: number; readonly ropeDim: number };

/** A model's sizes and dimensions, from its file headers. They determine whether the model fits and can be split. */
export interface ModelShape {
  readonly format: 'safetensors' | 'gguf';
  /** `model_type`, or `general.architecture`. */
  readonly architecture: string;
  /** `architectures` in `config.json`; absent if there are none, and in locks of older meshwright versions. */
  readonly classes?: readonly string[];
  readonly hidden: number;
  readonly heads: number;
  /** The smallest number in any layer. */
  readonly kvHeads: number;
  /** Width of one key head. */
  readonly headDim: number;
  readonly attention: AttentionShape;
  readonly vocabulary?: number;
  /** The trained context length in tokens. */
  readonly maxContext?: number;
  /** Widths of the feed-forward networks. */
  readonly dims: {
    readonly intermediate?: number;
    readonly moeIntermediate?: number;
    readonly sharedIntermediate?: number;
  };
  /** Bits per quantized weight, and weights per scale. */
  readonly quant?: { readonly bits: number; readonly group: number };
  /** True if the model's configuration names its own Python code (`auto_map`). */
  readonly hasOwnCode: boolean;
  /** In order. */
  readonly layers: readonly LayerShape[];
  readonly embeddingBytes: number;
  /** Bytes of the output matrix; 0 if the embedding is reused. */
  readonly outputBytes: number;
  /** Bytes outside the layers, embedding and output matrix, for example the last norm or an image encoder. */
  readonly otherBytes: number;
  /** The last norm's part of `otherBytes`. */
  readonly lastNormBytes: number;
  readonly largestTensorBytes: number;
  /** Bytes of state per sequence, in total for all layers without a cache. */
  readonly stateBytes: number;
}

/** Total bytes of a model's tensors. */
export const weightBytes = ({ layers, embeddingBytes, outputBytes, otherBytes }: ModelShape): number =>
  layers.reduce((sum, { bytes }) => sum + bytes, embeddingBytes + outputBytes + otherBytes);

/** A model's shape, if known. `why` is the end of "its memory cannot be judged: ". */
export type ShapeFact =
  | { readonly kind: 'known'; readonly shape: ModelShape }
  | { readonly kind: 'unknown'; readonly why: string };
