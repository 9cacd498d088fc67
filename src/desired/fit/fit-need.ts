import type { DesiredPlacement, DriverName } from '../../model/desired.ts';
import type { FitPlacement, RankNeed } from '../../model/fit.ts';
import type { LayerShape, ModelShape } from '../../model/model-shape.ts';

const gibibyte = 2 ** 30;

/** What mlx keeps of earlier prompts, at most; the driver tells it so, since by itself it has no bound in bytes. */
export const mlxPromptCacheBytes = 2 * gibibyte;

/** The same of llama-server, on the leader (MiB). */
export const llamaPromptCacheMegabytes = 1_024;

/** The program of a rank. @see runtimes: section 6.3 */
const processBytes = 0.3 * gibibyte;

/**
 * The gateway of a published placement, on the leader: 256 MiB for large bodies, as much for all else. 100 bodies of
 * 64 MiB at once made it 350 MB large (test/scenarios/doorman-siege.slow.test.ts).
 */
const gatewayBytes = gibibyte / 2;

/** Buffers of computing take at least a GiB, and 2 % of the memory of the GPU. @see runtimes: section 6.3 */
const computeBytes = (budgetBytes: number | undefined): number => Math.max(gibibyte, (budgetBytes ?? 0) / 50);

/** What is to run, as far as memory goes. */
interface FitWish
  extends Pick<FitPlacement, 'sharding' | 'shares' | 'contextTokens' | 'parallel' | 'args' | 'env' | 'publication'> {
  readonly shape: ModelShape;
  readonly driver: DriverName;
}

/** The node of one rank. */
interface RankRoom {
  readonly memoryBytes?: number;
  readonly budgetBytes?: number;
}

interface Held {
  readonly weights: number;
  readonly cache: number;
}

/** What each rank needs, in rank order; `rooms` are the nodes of the ranks. */
export function rankNeeds(wish: FitWish, rooms: readonly RankRoom[]): readonly RankNeed[] {
  const held = heldBytes(wish, rooms);
  return rooms.map(({ budgetBytes }, rank) => {
    const { weights, cache } = held[rank] ?? { weights: 0, cache: 0 };
    const compute = computeBytes(budgetBytes);
    const promptCache = promptCacheBytes(wish.driver, rank);
    const loading = loadingBytes(wish, rooms.length);
    const process = processBytes + (wish.publication === undefined || rank > 0 ? 0 : gatewayBytes);
    const total = weights + process + Math.max(loading, cache + compute + promptCache);
    return { weights, cache, compute, promptCache, loading, process, total };
  });
}

function promptCacheBytes(driver: DriverName, rank: number): number {
  if (driver === 'mlx') return mlxPromptCacheBytes;
  return driver === 'llamacpp-rpc' && rank === 0 ? llamaPromptCacheMegabytes * 2 ** 20 : 0;
}

/** mlx-lm loads a tensor whole before it keeps its part of it. */
const loadingBytes = ({ driver, sharding, shape }: FitWish, ranks: number): number =>
  driver === 'mlx' && sharding === 'tensor' && ranks > 1 ? 2 * shape.largestTensorBytes : 0;

function heldBytes(wish: FitWish, rooms: readonly RankRoom[]): readonly Held[] {
  const { driver, sharding, shape } = wish;
  const ranks = rooms.length;
  if (driver === 'llamacpp-rpc') return llamaHeld(wish, ranks);
  if (ranks === 1 || sharding === undefined) return rooms.map(() => layersHeld(wish, shape.layers));
  if (sharding === 'tensor') return rooms.map(() => tensorHeld(wish, ranks));
  return pipelineLayers(wish, rooms).map((layers) => layersHeld(wish, layers));
}

const llamaHeld = (wish: FitWish, ranks: number): readonly Held[] =>
  llamaBytes(wish.shape, sharesOf(wish, ranks), wish.contextTokens).map((own) => ({
    weights: own.weightBytes + own.embeddingBytes,
    cache: own.cacheBytes * wish.parallel * llamaCacheFactor(wish) + wish.shape.stateBytes * wish.parallel,
  }));

/** Equal ones where the file says none. */
const sharesOf = ({ shares }: Pick<FitWish, 'shares'>, ranks: number): readonly number[] =>
  shares ?? Array.from({ length: ranks }, () => 1);

/** Embedding and output matrix lie on every rank of a pipeline. */
const besideLayers = ({ embeddingBytes, outputBytes, otherBytes }: ModelShape): number =>
  embeddingBytes + outputBytes + otherBytes;

const layersHeld = (wish: FitWish, layers: readonly LayerShape[]): Held => ({
  weights: layers.reduce((sum, { bytes }) => sum + bytes, besideLayers(wish.shape)),
  cache: (cacheBytesOf(layers, wish.contextTokens) + wish.shape.stateBytes) * wish.parallel,
});

/** The latent cache of MLA lies whole on every rank, as do heads of keys that do not divide. */
function tensorHeld(wish: FitWish, ranks: number): Held {
  const { shape, contextTokens, parallel } = wish;
  const isDivided = shape.attention.kind === 'gqa' && shape.kvHeads % ranks === 0;
  const cache = (cacheBytesOf(shape.layers, contextTokens) / (isDivided ? ranks : 1) + shape.stateBytes) * parallel;
  const weights = shape.layers.reduce(
    (sum, { bytes, sharded }) => sum + bytes - sharded + sharded / ranks,
    besideLayers(shape),
  );
  return { weights, cache };
}

/**
 * The layers of each rank of a pipeline. mlx-lm gives the last ones to rank 0, and one more to the first ranks where they
 * do not divide; exo divides by memory.
 */
function pipelineLayers({ shape, driver }: FitWish, rooms: readonly RankRoom[]): readonly (readonly LayerShape[])[] {
  const sizes = rooms.map(({ memoryBytes = 0 }) => memoryBytes);
  const isByMemory = driver === 'exo' && sizes.every((size) => size > 0);
  const counts = layerCounts(shape.layers.length, isByMemory ? sizes : sizes.map(() => 1));
  const starts = counts.map((_, rank) => counts.slice(rank + 1).reduce((sum, count) => sum + count, 0));
  return counts.map((count, rank) => shape.layers.slice(starts[rank], (starts[rank] ?? 0) + count));
}

/** Whole layers in proportion to the shares; those that are left over go to the first ranks. */
function layerCounts(layers: number, shares: readonly number[]): readonly number[] {
  const total = shares.reduce((sum, share) => sum + share, 0);
  const whole = shares.map((share) => Math.floor((layers * share) / total));
  const left = layers - whole.reduce((sum, count) => sum + count, 0);
  return whole.map((count, rank) => count + (rank < left ? 1 : 0));
}

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

/** What these layers keep of one sequence of so many tokens. */
const cacheBytesOf = (layers: readonly LayerShape[], tokens: number): number =>
  layers.reduce((sum, { cachePerToken, window }) => sum + cachePerToken * Math.min(tokens, window ?? tokens), 0);

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
