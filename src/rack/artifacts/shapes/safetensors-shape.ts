import { jsonObject } from '../../../model/digest.ts';
import { given } from '../../../model/given.ts';
import type { AttentionShape, LayerShape, ModelShape, ShapeFact } from '../../../model/model-shape.ts';
import { jsonEntries, type TensorBytes, weighTensors } from './safetensors.ts';

/** More layers than any model has. */
export const mostLayers = 2_048;

/** The shape of a model from its `config.json` and the tensors of all its safetensors files. */
export function safetensorsShape(config: string, tensors: readonly TensorBytes[]): ShapeFact {
  const fields = configFields(config);
  if (fields === undefined) return { kind: 'unknown', why: 'its config.json is not a JSON object' };
  const layerCount = countOf(fields, 'num_hidden_layers', 'n_layer', 'num_layers');
  const hidden = countOf(fields, 'hidden_size', 'n_embd', 'd_model');
  const heads = countOf(fields, 'num_attention_heads', 'n_head');
  if (layerCount === undefined || hidden === undefined || heads === undefined) {
    return { kind: 'unknown', why: 'its config.json does not give layers, hidden size and heads' };
  }
  if (layerCount > mostLayers)
    return { kind: 'unknown', why: `its config.json declares too many layers (${layerCount})` };
  const weighed = weighTensors(tensors, layerCount);
  if (weighed.layers.some(({ bytes }) => bytes === 0)) {
    return { kind: 'unknown', why: `its files lack some of the ${layerCount} layers that its config.json declares` };
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

function dimensionsOf(
  fields: ConfigFields,
  { layerCount, hidden, heads }: Readonly<Record<'layerCount' | 'hidden' | 'heads', number>>,
) {
  const attention = attentionOf(fields);
  const type = fields.get('model_type');
  const classes = wordsOf(fields, 'architectures');
  const kvHeads = countOf(fields, 'num_key_value_heads', 'num_kv_heads') ?? heads;
  const headDim = countOf(fields, 'head_dim') ?? Math.max(1, Math.floor(hidden / heads));
  return {
    architecture: isName(type) ? type : 'unknown',
    // Up to eight names; with more, the classes are unknown.
    ...(classes.length > 0 && classes.length <= 8 && classes.every(isName) ? { classes } : {}),
    hidden,
    heads,
    kvHeads,
    headDim,
    attention,
    ...given({
      vocabulary: countOf(fields, 'vocab_size'),
      maxContext: countOf(fields, 'max_position_embeddings', 'n_positions'),
    }),
    dims: given({
      intermediate: countOf(fields, 'intermediate_size', 'ffn_hidden_size'),
      moeIntermediate: countOf(fields, 'moe_intermediate_size'),
      sharedIntermediate: countOf(fields, 'shared_expert_intermediate_size'),
    }),
    ...quantOf(fields),
    hasOwnCode: membersOf(fields.get('auto_map')).size > 0,
    caches: layerCaches(fields, layerCount, { kvHeads, keyDim: headDim, valueDim: headDim, attention }),
  };
}

/** MLX's quantization; MLX does not shard files that other tools quantized. */
function quantOf(fields: ConfigFields): Pick<ModelShape, 'quant'> {
  const quantisation = membersOf(fields.get('quantization'));
  const [bits, group] = [countOf(quantisation, 'bits'), countOf(quantisation, 'group_size')];
  return bits === undefined || group === undefined ? {} : { quant: { bits, group } };
}

/** Bytes of one number in a cache: runtimes store 16 bits. */
const cacheNumberBytes = 2;
/** Runtimes store recurrent states in 32 bits. */
const stateNumberBytes = 4;

export type LayerCache = Pick<LayerShape, 'cachePerToken' | 'window'>;

interface CacheHeads {
  readonly kvHeads: number;
  readonly keyDim: number;
  readonly valueDim: number;
  readonly attention: AttentionShape;
}

/** Bytes of one token in the cache of one layer: keys and values of all heads, or the one latent vector of MLA. */
export const tokenBytes = ({ kvHeads, keyDim, valueDim, attention }: CacheHeads): number =>
  cacheNumberBytes *
  (attention.kind === 'mla' ? attention.latentDim + attention.ropeDim : kvHeads * (keyDim + valueDim));

/**
 * The cache of each layer. A window counts only if the configuration names the layers that have one (`layer_types`, or
 * every n-th without): some runtimes ignore a bare `sliding_window`.
 */
function layerCaches(fields: ConfigFields, layerCount: number, heads: CacheHeads): readonly LayerCache[] {
  const types = wordsOf(fields, 'layer_types');
  const window = countOf(fields, 'sliding_window', 'attention_chunk_size');
  const pattern = countOf(fields, 'sliding_window_pattern', '_sliding_window_pattern');
  const cachePerToken = tokenBytes(heads);
  return Array.from({ length: layerCount }, (_, layer): LayerCache => {
    if (isLinear(fields, types, layer)) return { cachePerToken: 0 };
    const type = types[layer];
    const isWindowed = type === undefined ? isBetween(layer, pattern) : /sliding|chunked/.test(type);
    return { cachePerToken, ...(isWindowed && window !== undefined ? { window } : {}) };
  });
}

const isBetween = (layer: number, pattern: number | undefined): boolean =>
  pattern !== undefined && pattern > 1 && (layer + 1) % pattern !== 0;

function isLinear(fields: ConfigFields, types: readonly string[], layer: number): boolean {
  const type = types[layer];
  if (type !== undefined) return /linear|mamba|recurrent/.test(type);
  return isBetween(layer, countOf(fields, 'full_attention_interval'));
}

/**
 * Bytes that linear-attention layers keep per sequence, regardless of its length: a matrix per value head, and the last
 * inputs of the convolution. 0 if the configuration has no such layers.
 * @see transformers: configuration of qwen3_next
 */
function stateBytes(fields: ConfigFields, linearLayers: number): number {
  const keyHeads = countOf(fields, 'linear_num_key_heads') ?? 0;
  const valueHeads = countOf(fields, 'linear_num_value_heads') ?? 0;
  const keyDim = countOf(fields, 'linear_key_head_dim') ?? 0;
  const valueDim = countOf(fields, 'linear_value_head_dim') ?? 0;
  const kernel = countOf(fields, 'linear_conv_kernel_dim') ?? 1;
  const matrix = valueHeads * keyDim * valueDim * stateNumberBytes;
  const inputs = (kernel - 1) * (2 * keyHeads * keyDim + valueHeads * valueDim) * cacheNumberBytes;
  return linearLayers * (matrix + inputs);
}

type ConfigFields = ReadonlyMap<string, unknown>;

const languagePart = ['text_config', 'llm_config', 'language_config'];

/** Members of a configuration; those of its language part override the others. */
function configFields(text: string): ConfigFields | undefined {
  const entries = jsonEntries(text);
  if (entries === undefined) return undefined;
  const whole = new Map(entries);
  const inner = languagePart.map((key) => membersOf(whole.get(key))).find((found) => found.size > 0);
  const fields = new Map([...whole, ...(inner ?? [])]);
  // The model type of the whole configuration counts, even if the language part has another one.
  return whole.has('model_type') ? fields.set('model_type', whole.get('model_type')) : fields;
}

/** The members of an object; none for any other value. */
export const membersOf = (value: unknown): ConfigFields => new Map(Object.entries(jsonObject(value) ?? {}));

/** The first of these fields that is a whole number from 1 to a billion. */
function countOf(fields: ConfigFields, ...keys: readonly string[]): number | undefined {
  return keys
    .map((key) => fields.get(key))
    .find(
      (value): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1e9,
    );
}

/** A text of at most 64 characters that are valid in names. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(value);

/** A field's list of texts; empty for any other value. */
function wordsOf(fields: ConfigFields, key: string): readonly string[] {
  const value = fields.get(key);
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : [];
}
