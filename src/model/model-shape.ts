/** One layer of a model, by bytes. */
export interface LayerShape {
  /** Of all its tensors. */
  readonly bytes: number;
  /** The bytes that tensor sharding splits; every rank has the rest in full. */
  readonly sharded: number;
  /** Cache bytes per context token; 0 if it has a fixed-size state instead. */
  readonly cachePerToken: number;
  /** The attention window in tokens; absent for the whole context. */
  readonly window?: number;
}

/** The attention type: key-value heads, or one latent vector per token that no sharding divides. */
export type AttentionShape =
  | { readonly kind: 'gqa' }
  | { readonly kind: 'mla'; readonly latentDim: number; readonly ropeDim: number };

/** A model's bytes and dimensions, from its file headers, which determine fit and divisibility. */
export interface ModelShape {
  readonly format: 'safetensors' | 'gguf';
  /** `model_type`, or `general.architecture`. */
  readonly architecture: string;
  /** `architectures` in `config.json`; absent if it has none, and in locks of an older meshwright. */
  readonly classes?: readonly string[];
  readonly hidden: number;
  readonly heads: number;
  /** The smallest number of all layers. */
  readonly kvHeads: number;
  /** Width of one head of keys. */
  readonly headDim: number;
  readonly attention: AttentionShape;
  readonly vocabulary?: number;
  /** The trained context length in tokens. */
  readonly maxContext?: number;
  /** Widths of its feed-forward networks. */
  readonly dims: {
    readonly intermediate?: number;
    readonly moeIntermediate?: number;
    readonly sharedIntermediate?: number;
  };
  /** Bits per quantized weight, and weights per scale. */
  readonly quant?: { readonly bits: number; readonly group: number };
  /** Whether its configuration names its own Python code (`auto_map`). */
  readonly hasOwnCode: boolean;
  /** In order. */
  readonly layers: readonly LayerShape[];
  readonly embeddingBytes: number;
  /** Bytes of the output matrix; 0 if the embedding is reused. */
  readonly outputBytes: number;
  /** Bytes outside layers, embedding and output matrix, such as the last norm or an image encoder. */
  readonly otherBytes: number;
  /** The last norm's part of these. */
  readonly lastNormBytes: number;
  readonly largestTensorBytes: number;
  /** Bytes of state per sequence in all layers without a cache. */
  readonly stateBytes: number;
}

/** Bytes of all tensors of a model. */
export const weightBytes = ({ layers, embeddingBytes, outputBytes, otherBytes }: ModelShape): number =>
  layers.reduce((sum, { bytes }) => sum + bytes, embeddingBytes + outputBytes + otherBytes);

/** A model's shape, if known; `why` is the end of "its memory cannot be judged: ". */
export type ShapeFact =
  | { readonly kind: 'known'; readonly shape: ModelShape }
  | { readonly kind: 'unknown'; readonly why: string };
