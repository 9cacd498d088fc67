/** One layer of a model, by bytes. */
export interface LayerShape {
  /** Of all its tensors. */
  readonly bytes: number;
  /** Of these the bytes that tensor sharding splits; the rest lies whole on every rank. */
  readonly sharded: number;
  /** What one token of context takes in its cache; 0 where it keeps a state of fixed size instead. */
  readonly cachePerToken: number;
  /** The most tokens that it looks back; absent where it keeps the whole context. */
  readonly window?: number;
}

/** How a model attends: with heads of keys and values, or by one latent vector per token that no sharding divides. */
export type AttentionShape =
  | { readonly kind: 'gqa' }
  | { readonly kind: 'mla'; readonly latentDim: number; readonly ropeDim: number };

/** Bytes and dimensions of a model, from the headers of its files: all that fit and divisibility follow from. */
export interface ModelShape {
  readonly format: 'safetensors' | 'gguf';
  /** `model_type`, or `general.architecture`. */
  readonly architecture: string;
  /** `architectures` of `config.json`; absent where it has none, and in locks of an older meshwright. */
  readonly classes?: readonly string[];
  readonly hidden: number;
  readonly heads: number;
  /** The smallest number of all layers. */
  readonly kvHeads: number;
  /** Width of one head of keys. */
  readonly headDim: number;
  readonly attention: AttentionShape;
  readonly vocabulary?: number;
  /** The longest context that it was trained for. */
  readonly maxContext?: number;
  /** Widths inside the feed-forward networks, as far as it has them. */
  readonly dims: {
    readonly intermediate?: number;
    readonly moeIntermediate?: number;
    readonly sharedIntermediate?: number;
  };
  /** Bits of one quantised weight, and how many weights share a scale. */
  readonly quant?: { readonly bits: number; readonly group: number };
  /** Whether its configuration names Python code of its own (`auto_map`). */
  readonly hasOwnCode: boolean;
  /** In order. */
  readonly layers: readonly LayerShape[];
  readonly embeddingBytes: number;
  /** Of the output matrix; 0 when the embedding serves as it. */
  readonly outputBytes: number;
  /** Everything that is in no layer, neither embedding nor output matrix: the last norm, an encoder of images. */
  readonly otherBytes: number;
  /** Of these what belongs to the last norm alone. */
  readonly lastNormBytes: number;
  readonly largestTensorBytes: number;
  /** What layers without a cache keep of one sequence, all together. */
  readonly stateBytes: number;
}

/** Bytes of all tensors of a model. */
export const weightBytes = ({ layers, embeddingBytes, outputBytes, otherBytes }: ModelShape): number =>
  layers.reduce((sum, { bytes }) => sum + bytes, embeddingBytes + outputBytes + otherBytes);

/** What is known of the shape of a model; `why` is the end of "its memory cannot be judged: ". */
export type ShapeFact =
  | { readonly kind: 'known'; readonly shape: ModelShape }
  | { readonly kind: 'unknown'; readonly why: string };
