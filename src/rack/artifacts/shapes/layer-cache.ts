import type { AttentionShape } from '../../../model/model-shape.ts';
import { jsonEntries } from './safetensors.ts';

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
export function layerCaches(fields: ConfigFields, layerCount: number, heads: CacheHeads): readonly LayerCache[] {
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
  const interval = countOf(fields, 'full_attention_interval');
  return isBetween(layer, interval);
}

/**
 * What layers of linear attention keep of one sequence, however long it is: a matrix for each head of values, and the
 * last inputs of the convolution. 0 where the configuration has no such layers.
 *
 * @see transformers: configuration of qwen3_next
 */
export function stateBytes(fields: ConfigFields, linearLayers: number): number {
  const [keyHeads = 0, valueHeads = 0] = [
    countOf(fields, 'linear_num_key_heads'),
    countOf(fields, 'linear_num_value_heads'),
  ];
  const [keyDim = 0, valueDim = 0] = [countOf(fields, 'linear_key_head_dim'), countOf(fields, 'linear_value_head_dim')];
  const kernel = countOf(fields, 'linear_conv_kernel_dim') ?? 1;
  const matrix = valueHeads * keyDim * valueDim * stateNumberBytes;
  const inputs = (kernel - 1) * (2 * keyHeads * keyDim + valueHeads * valueDim) * cacheNumberBytes;
  return linearLayers * (matrix + inputs);
}

/** The members of a `config.json` that say something about shape, by name. */
export type ConfigFields = ReadonlyMap<string, unknown>;

const languagePart = ['text_config', 'llm_config', 'language_config'];

/** The members of a configuration; those of its language part, where it has one, come before those beside it. */
export function configFields(text: string): ConfigFields | undefined {
  const entries = jsonEntries(text);
  if (entries === undefined) return undefined;
  const whole = new Map(entries);
  const inner = languagePart.map((key) => membersOf(whole.get(key))).find((found) => found.size > 0);
  return new Map([...whole, ...(inner ?? []), ...named(whole, 'model_type')]);
}

/** The name of the whole counts, also where its language part has one of its own. */
const named = (fields: ConfigFields, key: string): readonly (readonly [string, unknown])[] =>
  fields.has(key) ? [[key, fields.get(key)]] : [];

/** The members of a value that is an object; none of anything else. */
export const membersOf = (value: unknown): ConfigFields =>
  new Map(typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []);

/** The first of these fields that is a whole number from 1 to a billion. */
export function countOf(fields: ConfigFields, ...keys: readonly string[]): number | undefined {
  return keys
    .map((key) => fields.get(key))
    .find(
      (value): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1e9,
    );
}

/** A field that is a text of at most 64 characters that names can have. */
export function nameOf(fields: ConfigFields, key: string): string | undefined {
  const value = fields.get(key);
  return isName(value) ? value : undefined;
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(value);

/** A field that is a list of up to eight such names; empty for anything else. */
export function namesOf(fields: ConfigFields, key: string): readonly string[] {
  const value = fields.get(key);
  return Array.isArray(value) && value.length <= 8 && value.every(isName) ? value : [];
}

/** A field that is a list of texts; empty for anything else. */
function wordsOf(fields: ConfigFields, key: string): readonly string[] {
  const value = fields.get(key);
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : [];
}
