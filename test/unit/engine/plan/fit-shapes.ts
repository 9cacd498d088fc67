import type { FitFleet, FitPlacement } from '../../../../src/model/fit.ts';
import type { LayerShape, ModelShape } from '../../../../src/model/model-shape.ts';
import { nodeName } from '../../../../src/model/node.ts';

/** A shape with equal layers that tensor sharding splits completely, for tests in which only sums matter. */
export function evenShape(
  totalBytes: number,
  wish: Partial<ModelShape> & { readonly count?: number; readonly cache?: number } = {},
): ModelShape {
  const { count = 61, cache = 0, ...fields } = wish;
  const layer: LayerShape = { bytes: totalBytes / count, sharded: totalBytes / count, cachePerToken: cache };
  return {
    format: 'safetensors',
    architecture: 'deepseek_v3',
    hidden: 7_168,
    heads: 64,
    kvHeads: 64,
    headDim: 128,
    attention: { kind: 'mla', latentDim: 512, ropeDim: 64 },
    dims: { moeIntermediate: 2_048 },
    hasOwnCode: false,
    layers: Array.from({ length: count }, () => layer),
    embeddingBytes: 0,
    outputBytes: 0,
    otherBytes: 0,
    lastNormBytes: 0,
    largestTensorBytes: 0,
    stateBytes: 0,
    ...fields,
  };
}

export const gib = 2 ** 30;

/** Macs of these sizes (GiB), named mac-1 and so on, with one runtime of each driver. */
export function fleetOf(
  sizes: readonly number[],
  models: FitFleet['models'],
  placements: readonly (Partial<FitPlacement> & { readonly name: string; readonly on: readonly number[] })[],
): FitFleet {
  return {
    system: {},
    nodes: sizes.map((size, index) => ({ name: nodeName(`mac-${index + 1}`), hardware: { memoryBytes: size * gib } })),
    runtimes: [
      { name: 'mlx', driver: 'mlx' },
      { name: 'llama', driver: 'llamacpp-rpc' },
      { name: 'exo', driver: 'exo' },
    ],
    models,
    placements: placements.map(({ on, ...placement }) => ({
      model: placement.name,
      runtime: 'mlx',
      nodes: on.map((number) => nodeName(`mac-${number}`)),
      sharding: 'tensor',
      contextTokens: 4_096,
      parallel: 1,
      state: 'serving',
      ...placement,
    })),
  };
}
