import type { DesiredPlacement } from '../../model/desired.ts';
import type { ModelShape } from '../../model/model-shape.ts';
import { cacheBytesOf, type DriverMemory, type FitSettings, type Held, sharesOf } from '../contract/memory.ts';

/** Size of the leader's cache of earlier prompts, in MiB. */
export const llamaPromptCacheMegabytes = 1_024;

/** The part of a model on one device, if the model is split by layers. */
interface LlamaUnits {
  /** Layer numbers, from 0. */
  readonly layers: readonly number[];
  /** Whether the device has the last norm and the output matrix. */
  readonly hasOutput: boolean;
}

/**
 * Assigns layers to devices. There is one unit per layer and one for the output; unit i goes to the first device whose
 * running sum of shares exceeds i.
 *
 * @param shares of each device in llama.cpp's order, as in `--tensor-split`; at least one is above 0
 * @see llama.cpp: `llama-model.cpp`, `splits`
 */
export function llamaUnits(layerCount: number, shares: readonly number[]): readonly LlamaUnits[] {
  const total = shares.reduce((sum, share) => sum + share, 0);
  const ends = shares.map((_, device) => shares.slice(0, device + 1).reduce((sum, share) => sum + share, 0) / total);
  const deviceOf = (unit: number): number => {
    const found = ends.findIndex((end) => end > unit / (layerCount + 1));
    return found === -1 ? shares.length - 1 : found;
  };
  const devices = Array.from({ length: layerCount + 1 }, (_, unit) => deviceOf(unit));
  return shares.map((_, device) => ({
    layers: devices.slice(0, layerCount).flatMap((at, layer) => (at === device ? [layer] : [])),
    hasOutput: devices[layerCount] === device,
  }));
}

interface LlamaBytes extends LlamaUnits {
  /** In GPU memory, as the log counts them. */
  readonly weightBytes: number;
  readonly cacheBytes: number;
  /** In main memory: the embedding, in which the leader looks up tokens. */
  readonly embeddingBytes: number;
}

/**
 * Each rank's parts of the model, in rank order. llama.cpp orders workers before its own GPU, so followers get the
 * first layers, and the leader gets the last layers and the output.
 *
 * @param shares of each rank, the leader's first
 * @param tokens size of the whole cache in tokens
 */
export function llamaBytes(shape: ModelShape, shares: readonly number[], tokens: number): readonly LlamaBytes[] {
  const units = llamaUnits(shape.layers.length, [...shares.slice(1), ...shares.slice(0, 1)]);
  const inRankOrder = [...units.slice(-1), ...units.slice(0, -1)];
  // If the embedding is also the output matrix, the output's device gets a copy.
  const output = shape.lastNormBytes + (shape.outputBytes || shape.embeddingBytes);
  return inRankOrder.map(({ layers, hasOutput }, rank) => {
    const own = shape.layers.filter((_, layer) => layers.includes(layer));
    return {
      layers,
      hasOutput,
      weightBytes: own.reduce((sum, { bytes }) => sum + bytes, hasOutput ? output : 0),
      cacheBytes: cacheBytesOf(own, tokens),
      embeddingBytes: rank === 0 ? shape.embeddingBytes : 0,
    };
  });
}

/**
 * Bytes per cached number. Quantized types use blocks of 32 numbers with one scale each. @see ggml/src/ggml-common.h
 */
const bytesOf: Readonly<Record<string, number>> = {
  f32: 4,
  f16: 2,
  bf16: 2,
  q8_0: 34 / 32,
  q5_1: 24 / 32,
  q5_0: 22 / 32,
  q4_1: 20 / 32,
  q4_0: 18 / 32,
  iq4_nl: 18 / 32,
};

/** Bytes per number that a model's shape assumes. */
const usualBytes = 2;

/** Unknown types count as the largest one. */
const mostBytes = 4;

/** Options and variables for one half of a cache. */
interface CacheFlag {
  readonly words: ReadonlySet<string>;
  readonly variables: readonly string[];
}

const flags: readonly CacheFlag[] = [
  { words: new Set(['-ctk', '--cache-type-k']), variables: ['LLAMA_ARG_CACHE_TYPE_K'] },
  { words: new Set(['-ctv', '--cache-type-v']), variables: ['LLAMA_ARG_CACHE_TYPE_V'] },
];

const drafterFlags: readonly CacheFlag[] = [
  {
    words: new Set(['-ctkd', '--cache-type-k-draft', '--spec-draft-type-k']),
    variables: ['LLAMA_ARG_SPEC_DRAFT_CACHE_TYPE_K', 'LLAMA_ARG_CACHE_TYPE_K_DRAFT'],
  },
  {
    words: new Set(['-ctvd', '--cache-type-v-draft', '--spec-draft-type-v']),
    variables: ['LLAMA_ARG_SPEC_DRAFT_CACHE_TYPE_V', 'LLAMA_ARG_CACHE_TYPE_V_DRAFT'],
  },
];

/** Settings of the cache type; `args` take precedence over `env`. */
type CacheSettings = Partial<Pick<DesiredPlacement, 'args' | 'env'>>;

/** Size of llama.cpp's cache relative to f16. Of two types the larger counts, as keys and values differ in number. */
export const llamaCacheFactor = (settings: CacheSettings): number => cacheFactor(settings, flags);

function cacheFactor({ args = [], env = {} }: CacheSettings, asked: readonly CacheFlag[]): number {
  const sizes = asked.map(({ words, variables }) => {
    const at = args.findLastIndex((arg) => words.has(arg));
    const variable = variables.find((one) => Object.hasOwn(env, one));
    const type = at === -1 ? (variable === undefined ? 'f16' : env[variable]) : args[at + 1];
    return type !== undefined && Object.hasOwn(bytesOf, type) ? (bytesOf[type] ?? mostBytes) : mostBytes;
  });
  return Math.max(...sizes) / usualBytes;
}

const heldOf = (shape: ModelShape, settings: FitSettings, shares: readonly number[], factor: number): readonly Held[] =>
  llamaBytes(shape, shares, settings.contextTokens).map((own) => ({
    weights: own.weightBytes + own.embeddingBytes,
    cache: own.cacheBytes * settings.parallel * factor + shape.stateBytes * settings.parallel,
  }));

/** Divides whole layers according to the ranks' shares; the leader also has the drafter. */
export const memory: DriverMemory = {
  held: (settings, rooms) => {
    const { drafterShape } = settings;
    // The drafter's cache has as many tokens as the model's, but its type does not follow that of the model.
    const factor = cacheFactor(settings, drafterFlags);
    const [drafter] = drafterShape === undefined ? [] : heldOf(drafterShape, settings, [1], factor);
    const held = heldOf(settings.shape, settings, sharesOf(settings, rooms.length), llamaCacheFactor(settings));
    return held.map(({ weights, cache }, rank) =>
      rank > 0 || drafter === undefined
        ? { weights, cache }
        : { weights: weights + drafter.weights, cache: cache + drafter.cache },
    );
  },
  promptCacheBytes: (rank) => (rank === 0 ? llamaPromptCacheMegabytes * 2 ** 20 : 0),
};
