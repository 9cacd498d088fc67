import type { FitPlacement, RankNeed } from '../../model/fit.ts';
import type { LayerShape, ModelShape } from '../../model/model-shape.ts';
import { gibibyte } from '../../model/text/units.ts';

/** A rank's program without model data. @see docs/fit.md */
const processBytes = 0.3 * gibibyte;

/**
 * Memory of a published placement's gateway on the leader: 256 MiB for large bodies and the same amount for everything
 * else. 100 parallel bodies of 64 MiB used 350 MB (test/scenarios/gateway-siege.slow.test.ts).
 */
const gatewayBytes = gibibyte / 2;

/** Compute buffers take the larger of one GiB and 2 % of the GPU's memory. @see docs/fit.md */
const computeBytes = (budgetBytes: number | undefined): number => Math.max(gibibyte, (budgetBytes ?? 0) / 50);

/** The settings of a placement that affect memory. */
export interface FitSettings
  extends Pick<FitPlacement, 'sharding' | 'shares' | 'contextTokens' | 'parallel' | 'args' | 'env' | 'publication'> {
  readonly shape: ModelShape;
  /** The shape of the drafter; absent if there is none. */
  readonly drafterShape?: ModelShape;
  /** Ranks with a role, which have the whole model; the others divide it among themselves. */
  readonly wholeRanks?: readonly number[];
}

export interface RankRoom {
  readonly memoryBytes?: number;
  readonly budgetBytes?: number;
}

export interface Held {
  readonly weights: number;
  readonly cache: number;
}

/** A runtime's differences from the default memory use. */
export interface DriverMemory {
  /** Weights and cache of each rank; absent: equal parts of tensors, or equal numbers of layers. */
  held?(settings: FitSettings, rooms: readonly RankRoom[]): readonly Held[];
  /** Bytes that a rank may keep for earlier prompts. */
  promptCacheBytes?(rank: number): number;
  /** Additional bytes that a rank needs while it loads the model. */
  loadingBytes?(settings: FitSettings, ranks: number): number;
}

/** Memory needs in rank order; `rooms` are the nodes of the ranks. */
export function rankNeeds(
  settings: FitSettings,
  rooms: readonly RankRoom[],
  driver: DriverMemory = {},
): readonly RankNeed[] {
  const held = driver.held?.(settings, rooms) ?? heldByRole(settings, rooms);
  return rooms.map(({ budgetBytes }, rank) => {
    const { weights, cache } = held[rank] ?? { weights: 0, cache: 0 };
    const compute = computeBytes(budgetBytes);
    const promptCache = driver.promptCacheBytes?.(rank) ?? 0;
    const loading = driver.loadingBytes?.(settings, rooms.length) ?? 0;
    const process = processBytes + (settings.publication === undefined || rank > 0 ? 0 : gatewayBytes);
    const total = weights + process + Math.max(loading, cache + compute + promptCache);
    return { weights, cache, compute, promptCache, loading, process, total };
  });
}

/** The whole model for ranks with a role, and a part of it for every other rank. */
function heldByRole(settings: FitSettings, rooms: readonly RankRoom[]): readonly Held[] {
  const isWhole = (rank: number): boolean => settings.wholeRanks?.includes(rank) === true;
  const dividing = rooms.filter((_, rank) => !isWhole(rank));
  const parts = [...heldInParts(settings, dividing, 'number')];
  const whole = layersHeld(settings, settings.shape.layers);
  return rooms.map((_, rank) => (isWhole(rank) ? whole : (parts.shift() ?? whole)));
}

/** Splits tensors into equal parts, or whole layers by equal numbers or by the nodes' memory. */
export function heldInParts(
  settings: FitSettings,
  rooms: readonly RankRoom[],
  layersBy: 'number' | 'memory',
): readonly Held[] {
  const { sharding, shape } = settings;
  const ranks = rooms.length;
  if (ranks === 1 || sharding === undefined) return rooms.map(() => layersHeld(settings, shape.layers));
  if (sharding === 'tensor') return rooms.map(() => tensorHeld(settings, ranks));
  return pipelineLayers(settings, rooms, layersBy).map((layers) => layersHeld(settings, layers));
}

/** The file's shares, or equal ones. */
export const sharesOf = ({ shares }: Pick<FitSettings, 'shares'>, ranks: number): readonly number[] =>
  shares ?? Array.from({ length: ranks }, () => 1);

/** The bytes besides the layers: every pipeline rank has the embedding and the output matrix. */
const besideLayers = ({ embeddingBytes, outputBytes, otherBytes }: ModelShape): number =>
  embeddingBytes + outputBytes + otherBytes;

const layersHeld = (settings: FitSettings, layers: readonly LayerShape[]): Held => ({
  weights: layers.reduce((sum, { bytes }) => sum + bytes, besideLayers(settings.shape)),
  cache: (cacheBytesOf(layers, settings.contextTokens) + settings.shape.stateBytes) * settings.parallel,
});

/** The split of tensors. Every rank has all of MLA's latent cache, and all key-value heads if they do not divide. */
function tensorHeld(settings: FitSettings, ranks: number): Held {
  const { shape, contextTokens, parallel } = settings;
  const isDivided = shape.attention.kind === 'gqa' && shape.kvHeads % ranks === 0;
  const cache = (cacheBytesOf(shape.layers, contextTokens) / (isDivided ? ranks : 1) + shape.stateBytes) * parallel;
  const weights = shape.layers.reduce(
    (sum, { bytes, sharded }) => sum + bytes - sharded + sharded / ranks,
    besideLayers(shape),
  );
  return { weights, cache };
}

/** The layers of each pipeline rank. Rank 0 has the last layers; the first ranks get those that are left over. */
function pipelineLayers(
  { shape }: FitSettings,
  rooms: readonly RankRoom[],
  layersBy: 'number' | 'memory',
): readonly (readonly LayerShape[])[] {
  const sizes = rooms.map(({ memoryBytes = 0 }) => memoryBytes);
  const isByMemory = layersBy === 'memory' && sizes.every((size) => size > 0);
  const counts = layerCounts(shape.layers.length, isByMemory ? sizes : sizes.map(() => 1));
  const starts = counts.map((_, rank) => counts.slice(rank + 1).reduce((sum, count) => sum + count, 0));
  return counts.map((count, rank) => shape.layers.slice(starts[rank], (starts[rank] ?? 0) + count));
}

/** Whole layers in proportion to the shares; the remaining ones go to the first ranks. */
function layerCounts(layers: number, shares: readonly number[]): readonly number[] {
  const total = shares.reduce((sum, share) => sum + share, 0);
  const whole = shares.map((share) => Math.floor((layers * share) / total));
  const left = layers - whole.reduce((sum, count) => sum + count, 0);
  return whole.map((count, rank) => count + (rank < left ? 1 : 0));
}

/** Cache bytes of these layers for one sequence of this many tokens. */
export const cacheBytesOf = (layers: readonly LayerShape[], tokens: number): number =>
  layers.reduce((sum, { cachePerToken, window }) => sum + cachePerToken * Math.min(tokens, window ?? tokens), 0);
