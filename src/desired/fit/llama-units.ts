import type { LayerShape, ModelShape } from '../../model/fit/model-shape.ts';

/** What one device of llama.cpp holds of a model that is split by layers. */
export interface LlamaUnits {
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
export interface LlamaBytes extends LlamaUnits {
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
export const cacheBytesOf = (layers: readonly LayerShape[], tokens: number): number =>
  layers.reduce((sum, { cachePerToken, window }) => sum + cachePerToken * Math.min(tokens, window ?? tokens), 0);
