import { given } from '../../../model/given.ts';
import type { AttentionShape, ModelShape, ShapeFact } from '../../../model/model-shape.ts';
import { jsonEntries, type TensorBytes, weighTensors } from './safetensors.ts';

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
    // Up to eight names; of anything else none are known.
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

/** That of MLX; files that were quantised by others are not sharded by it. */
function quantOf(fields: ConfigFields): Pick<ModelShape, 'quant'> {
  const quantisation = membersOf(fields.get('quantization'));
  const [bits, group] = [countOf(quantisation, 'bits'), countOf(quantisation, 'group_size')];
  return bits === undefined || group === undefined ? {} : { quant: { bits, group } };
}

/** Bytes of one number in a cache: runtimes keep it in 16 bits. */
const cacheNumberBytes = 2;
/** Recurrent states are kept in 32 bits. */
const stateNumberBytes = 4;

/** What one layer keeps of the context. */
export interface LayerCache {
  readonly cachePerToken: number;
  readonly window?: number;
}

/** Heads of a model, or of its layers. */
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
 * What each layer keeps. A window counts only where the configuration says which layers have one (`layer_types`, or
 * every n-th is without): a bare `sliding_window` is ignored by some runtimes.
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
 * What layers of linear attention keep of one sequence, however long it is: a matrix for each head of values, and the
 * last inputs of the convolution. 0 where the configuration has no such layers.
 *
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

/** The members of a `config.json` that say something about shape, by name. */
type ConfigFields = ReadonlyMap<string, unknown>;

const languagePart = ['text_config', 'llm_config', 'language_config'];

/** The members of a configuration; those of its language part, where it has one, come before those beside it. */
function configFields(text: string): ConfigFields | undefined {
  const entries = jsonEntries(text);
  if (entries === undefined) return undefined;
  const whole = new Map(entries);
  const inner = languagePart.map((key) => membersOf(whole.get(key))).find((found) => found.size > 0);
  const fields = new Map([...whole, ...(inner ?? [])]);
  // The name of the whole counts, also where its language part has one of its own.
  return whole.has('model_type') ? fields.set('model_type', whole.get('model_type')) : fields;
}

/** The members of a value that is an object; none of anything else. */
export const membersOf = (value: unknown): ConfigFields =>
  new Map(typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []);

/** The first of these fields that is a whole number from 1 to a billion. */
function countOf(fields: ConfigFields, ...keys: readonly string[]): number | undefined {
  return keys
    .map((key) => fields.get(key))
    .find(
      (value): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1e9,
    );
}

/** A text of at most 64 characters that names can have. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(value);

/** A field that is a list of texts; empty for anything else. */
function wordsOf(fields: ConfigFields, key: string): readonly string[] {
  const value = fields.get(key);
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : [];
}
