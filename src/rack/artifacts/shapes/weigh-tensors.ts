import type { ModelShape } from '../../../model/model-shape.ts';

import type { TensorBytes } from './file-header.ts';
import { tensorPlace } from './tensor-place.ts';

/** The bytes of a shape, without what one token takes. */
export type Weighed = Pick<
  ModelShape,
  'embeddingBytes' | 'outputBytes' | 'otherBytes' | 'lastNormBytes' | 'largestTensorBytes'
> & {
  readonly layers: readonly { readonly bytes: number; readonly sharded: number }[];
};

/** Adds the tensors up by where they belong. */
export function weighTensors(tensors: readonly TensorBytes[], layerCount: number): Weighed {
  const layers = Array.from({ length: layerCount }, () => ({ bytes: 0, sharded: 0 }));
  const sums = { embedding: 0, output: 0, 'last-norm': 0, other: 0 };
  let largestTensorBytes = 0;
  for (const { name, bytes } of tensors) {
    largestTensorBytes = Math.max(largestTensorBytes, bytes);
    const place = tensorPlace(name, layerCount);
    const layer = place.kind === 'layer' ? layers[place.layer] : undefined;
    if (layer !== undefined && place.kind === 'layer') {
      layer.bytes += bytes;
      layer.sharded += place.isSharded ? bytes : 0;
    } else if (place.kind !== 'layer') sums[place.kind] += bytes;
  }
  return {
    layers,
    embeddingBytes: sums.embedding,
    outputBytes: sums.output,
    otherBytes: sums.other + sums['last-norm'],
    lastNormBytes: sums['last-norm'],
    largestTensorBytes,
  };
}
