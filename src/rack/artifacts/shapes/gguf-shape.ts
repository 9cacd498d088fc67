import { given } from '../../../model/given.ts';
import type { AttentionShape, ModelShape, ShapeFact } from '../../../model/model-shape.ts';
import type { GgufHeader, GgufValue } from './gguf.ts';
import { type LayerCache, tokenBytes } from './layer-cache.ts';
import type { TensorBytes } from './safetensors.ts';
import { mostLayers } from './safetensors-shape.ts';
import { weighTensors } from './weigh-tensors.ts';

/** Reads numbers of the metadata by the name behind the architecture. */
interface Keys {
  readonly architecture: string;
  readonly one: (key: string) => number | undefined;
  /** For a layer: a list has one for each. */
  readonly at: (key: string, layer: number) => number | undefined;
}

const isCount = (value: number | undefined): value is number =>
  value !== undefined && Number.isInteger(value) && value >= 0 && value <= 1e9;

function keysOf(metadata: GgufHeader['metadata']): Keys | undefined {
  const named: GgufValue | undefined = metadata.get('general.architecture');
  if (named?.kind !== 'text' || !/^[a-z0-9][a-z0-9_.-]{0,63}$/i.test(named.value)) return undefined;
  const architecture = named.value;
  const at = (key: string, layer: number): number | undefined => {
    const value = metadata.get(`${architecture}.${key}`);
    const found = value?.kind === 'number' ? value.value : value?.kind === 'list' ? value.numbers[layer] : undefined;
    return isCount(found) ? found : undefined;
  };
  return { architecture, at, one: (key) => at(key, 0) };
}

/**
 * The shape of a GGUF model from the metadata of its first file and the tensors of all its files.
 *
 * @see ggml: `docs/gguf.md`; llama.cpp: `llama-arch.cpp` (names of keys)
 */
export function ggufShape(metadata: GgufHeader['metadata'], tensors: readonly TensorBytes[]): ShapeFact {
  const keys = keysOf(metadata);
  if (keys === undefined) return { kind: 'unknown', why: 'its GGUF file names no architecture' };
  const layerCount = keys.one('block_count');
  const hidden = keys.one('embedding_length');
  const heads = keys.one('attention.head_count');
  if (!layerCount || !hidden || !heads) {
    return { kind: 'unknown', why: 'its GGUF file does not say layers, hidden size and heads' };
  }
  if (layerCount > mostLayers) return { kind: 'unknown', why: `its GGUF file says ${layerCount} layers` };
  const weighed = weighTensors(tensors, layerCount);
  if (weighed.layers.some(({ bytes }) => bytes === 0)) {
    return { kind: 'unknown', why: `its GGUF files do not have the ${layerCount} layers that they announce` };
  }
  const caches = Array.from({ length: layerCount }, (_, layer) => cacheOf(keys, metadata, layer));
  const shape: ModelShape = {
    format: 'gguf',
    ...dimensionsOf(keys, metadata, { layerCount, hidden, heads }),
    ...weighed,
    layers: weighed.layers.map((layer, index) => ({ ...layer, ...(caches[index] ?? { cachePerToken: 0 }) })),
    stateBytes: 0,
  };
  return { kind: 'known', shape };
}

interface Basics {
  readonly layerCount: number;
  readonly hidden: number;
  readonly heads: number;
}

function dimensionsOf(keys: Keys, metadata: GgufHeader['metadata'], { layerCount, hidden, heads }: Basics) {
  const tokens = metadata.get('tokenizer.ggml.tokens');
  const vocabulary = tokens?.kind === 'list' ? tokens.count : keys.one('vocab_size');
  const maxContext = keys.one('context_length');
  const kvHeads = Array.from({ length: layerCount }, (_, layer) => kvHeadsOf(keys, layer)).filter((count) => count > 0);
  const [intermediate, moeIntermediate] = [keys.one('feed_forward_length'), keys.one('expert_feed_forward_length')];
  return {
    architecture: keys.architecture,
    hidden,
    heads,
    kvHeads: kvHeads.length === 0 ? heads : Math.min(...kvHeads),
    headDim: keys.one('attention.key_length') ?? Math.max(1, Math.floor(hidden / heads)),
    attention: attentionOf(keys),
    ...given({ vocabulary, maxContext }),
    dims: {
      ...(intermediate ? { intermediate } : {}),
      ...(moeIntermediate ? { moeIntermediate } : {}),
    },
    hasOwnCode: false,
  };
}

function attentionOf(keys: Keys): AttentionShape {
  const latentDim = keys.one('attention.kv_lora_rank');
  return latentDim ? { kind: 'mla', latentDim, ropeDim: keys.one('rope.dimension_count') ?? 0 } : { kind: 'gqa' };
}

const kvHeadsOf = (keys: Keys, layer: number): number =>
  keys.at('attention.head_count_kv', layer) ?? keys.at('attention.head_count', layer) ?? 0;

/** A window counts only where the file says which layers have one: else the whole context is taken. */
function cacheOf(keys: Keys, metadata: GgufHeader['metadata'], layer: number): LayerCache {
  const usual = Math.floor((keys.one('embedding_length') ?? 0) / (keys.at('attention.head_count', layer) || 1));
  const cachePerToken = tokenBytes({
    kvHeads: kvHeadsOf(keys, layer),
    keyDim: keys.one('attention.key_length') ?? usual,
    valueDim: keys.one('attention.value_length') ?? usual,
    attention: attentionOf(keys),
  });
  const window = keys.one('attention.sliding_window');
  const pattern = metadata.get(`${keys.architecture}.attention.sliding_window_pattern`);
  const isWindowed =
    pattern?.kind === 'list'
      ? pattern.numbers[layer] === 1
      : pattern?.kind === 'number' && pattern.value > 1 && (layer + 1) % pattern.value !== 0;
  return { cachePerToken, ...(isWindowed && window ? { window } : {}) };
}
