import type { DesiredPlacement } from '../../model/desired.ts';
import type { ModelShape } from '../../model/model-shape.ts';
import { cacheBytesOf, type DriverMemory, sharesOf } from '../contract/memory.ts';

/** What llama-server keeps of earlier prompts, on the leader (MiB). */
export const llamaPromptCacheMegabytes = 1_024;

/** What one device of llama.cpp holds of a model that is split by layers. */
interface LlamaUnits {
  /** Numbers of its layers, from 0. */
  readonly layers: readonly number[];
  /** Whether it has the last norm and the output matrix. */
  readonly hasOutput: boolean;
}

/**
 * Which device holds which layers: there are as many units as layers and one more for the output; unit i goes to the
 * first device at whose end the running sum of the shares is more than i of them.
 *
 * @param shares of each device in llama.cpp's own order, as `--tensor-split` has them; one at least is above 0
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

/** Bytes on one rank of a placement. */
interface LlamaBytes extends LlamaUnits {
  /** In the memory of its GPU, as its log counts them. */
  readonly weightBytes: number;
  readonly cacheBytes: number;
  /** In its plain memory: the embedding, which the leader looks tokens up in. */
  readonly embeddingBytes: number;
}

/**
 * What each rank holds, in rank order. llama.cpp takes its workers before its own GPU: the followers have the first
 * layers, and the leader has the last ones and the output.
 *
 * @param shares of each rank, the leader's first
 * @param tokens of the whole cache
 */
export function llamaBytes(shape: ModelShape, shares: readonly number[], tokens: number): readonly LlamaBytes[] {
  const units = llamaUnits(shape.layers.length, [...shares.slice(1), ...shares.slice(0, 1)]);
  const inRankOrder = [...units.slice(-1), ...units.slice(0, -1)];
  // Where the embedding serves as output matrix the device of the output gets a copy of it.
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

/** Bytes of one number of the cache. Those of fewer bits come in blocks of 32 with a scale each. @see ggml/src/ggml-common.h */
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

/** What a shape counts with. */
const usualBytes = 2;

/** A word that nobody knows here is taken for the largest one. */
const mostBytes = 4;

const flags = [
  { words: new Set(['-ctk', '--cache-type-k']), variable: 'LLAMA_ARG_CACHE_TYPE_K' },
  { words: new Set(['-ctv', '--cache-type-v']), variable: 'LLAMA_ARG_CACHE_TYPE_V' },
];

/** The words by which llama-server is told of what its cache is made; a word of `args` comes before a variable. */
type Told = Partial<Pick<DesiredPlacement, 'args' | 'env'>>;

/**
 * How much larger the cache of llama.cpp is than one of f16. Keys and values may have types of their own; then the larger
 * one is taken for both, since not every model has as many of the one as of the other.
 */
export function llamaCacheFactor({ args = [], env = {} }: Told): number {
  const sizes = flags.map(({ words, variable }) => {
    const at = args.findLastIndex((arg) => words.has(arg));
    const type = at === -1 ? (Object.hasOwn(env, variable) ? env[variable] : 'f16') : args[at + 1];
    return type !== undefined && Object.hasOwn(bytesOf, type) ? (bytesOf[type] ?? mostBytes) : mostBytes;
  });
  return Math.max(...sizes) / usualBytes;
}

/** Whole layers by the shares of the ranks. */
export const memory: DriverMemory = {
  held: (wish, rooms) =>
    llamaBytes(wish.shape, sharesOf(wish, rooms.length), wish.contextTokens).map((own) => ({
      weights: own.weightBytes + own.embeddingBytes,
      cache: own.cacheBytes * wish.parallel * llamaCacheFactor(wish) + wish.shape.stateBytes * wish.parallel,
    })),
  promptCacheBytes: (rank) => (rank === 0 ? llamaPromptCacheMegabytes * 2 ** 20 : 0),
};
