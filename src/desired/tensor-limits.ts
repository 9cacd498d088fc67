import { listText } from '../model/lists.ts';
import type { ModelShape } from '../model/model-shape.ts';

/**
 * Lists why tensor sharding cannot split a model over this number of ranks, one sentence each; empty if it can. The
 * number of ranks must divide the heads, the key heads and every split width. Each part of a quantized width must
 * consist of whole groups of weights with one scale.
 *
 * @see mlx-lm: `shard` of the model classes; heads that do not divide evenly become 0 or wrong without an error
 */
export function tensorProblems(shape: ModelShape, ranks: number): readonly string[] {
  if (ranks < 2) return [];
  const { heads, kvHeads, attention } = shape;
  const counts: readonly (readonly [what: string, count: number])[] = [
    ['heads', heads],
    ...(attention.kind === 'gqa' ? [['key and value heads', kvHeads] as const] : []),
  ];
  const undivided = counts.filter(([, count]) => count % ranks !== 0);
  return [
    ...undivided.map(([what, count]) => `Its ${count} ${what} are not divisible by ${ranks}.`),
    ...widthsOf(shape).flatMap((width) => widthProblems(width, shape, ranks)),
  ];
}

interface Width {
  readonly what: string;
  readonly size: number;
}

function widthsOf({ dims, heads, headDim, attention }: ModelShape): readonly Width[] {
  const { intermediate, moeIntermediate, sharedIntermediate } = dims;
  const all: readonly (Width | undefined)[] = [
    attention.kind === 'mla' ? undefined : { what: 'attention width', size: heads * headDim },
    intermediate === undefined ? undefined : { what: 'inner width', size: intermediate },
    moeIntermediate === undefined ? undefined : { what: 'inner width of an expert', size: moeIntermediate },
    sharedIntermediate === undefined
      ? undefined
      : { what: 'inner width of the shared expert', size: sharedIntermediate },
  ];
  return all.filter((width) => width !== undefined);
}

function widthProblems({ what, size }: Width, { quant }: ModelShape, ranks: number): readonly string[] {
  if (size % ranks !== 0) return [`Its ${what} of ${size} is not divisible by ${ranks}.`];
  const part = size / ranks;
  return quant === undefined || part % quant.group === 0
    ? []
    : [
        `Its ${what} of ${size} gives each of ${ranks} ranks ${part}, which is not a multiple of the group size ${quant.group}.`,
      ];
}

/** The numbers of ranks from 2 to `most` over which tensor sharding can split a model. */
export const tensorCounts = (shape: ModelShape, most: number): readonly number[] =>
  Array.from({ length: Math.max(0, most - 1) }, (_, index) => index + 2).filter(
    (ranks) => tensorProblems(shape, ranks).length === 0,
  );

/** The largest number of nodes in a placement. */
export const mostRanks = 16;

/** Advice on the number of nodes for tensor sharding. */
export function tensorAdvice(shape: ModelShape): string {
  const counts = tensorCounts(shape, mostRanks);
  return counts.length === 0
    ? 'Use sharding: pipeline.'
    : `Use ${listText(counts.map(String), 'or')} nodes, or sharding: pipeline.`;
}
