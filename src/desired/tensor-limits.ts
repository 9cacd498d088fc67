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
    ...widthsOf(shape).flatMap(([what, size = 0]) => widthProblem(what, size, ranks, shape) ?? []),
  ];
}

/** Every width, undefined if the model does not have it. */
const widthsOf = ({ dims, heads, headDim, attention }: ModelShape) =>
  [
    ['attention width', attention.kind === 'mla' ? undefined : heads * headDim],
    ['inner width', dims.intermediate],
    ['inner width of an expert', dims.moeIntermediate],
    ['inner width of the shared expert', dims.sharedIntermediate],
  ] as const;

function widthProblem(what: string, size: number, ranks: number, { quant }: ModelShape): string | undefined {
  if (size % ranks !== 0) return `Its ${what} of ${size} is not divisible by ${ranks}.`;
  const part = size / ranks;
  if (quant === undefined || part % quant.group === 0) return undefined;
  return `Its ${what} of ${size} gives each of ${ranks} ranks ${part}, which is not a multiple of the group size ${quant.group}.`;
}

/** The numbers of ranks from 2 to `most` over which tensor sharding can split a model. */
export const tensorCounts = (shape: ModelShape, most: number): readonly number[] =>
  Array.from({ length: Math.max(0, most - 1) }, (_, index) => index + 2).filter(
    (ranks) => tensorProblems(shape, ranks).length === 0,
  );

export const mostRanks = 16;

export function tensorAdvice(shape: ModelShape): string {
  const counts = tensorCounts(shape, mostRanks);
  return counts.length === 0
    ? 'Use sharding: pipeline.'
    : `Use ${listText(counts.map(String), 'or')} nodes, or sharding: pipeline.`;
}
