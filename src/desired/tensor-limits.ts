import type { ModelShape } from '../model/model-shape.ts';
import { listText } from './did-you-mean.ts';

/**
 * Why a model cannot be split over so many ranks by tensors, one sentence each; empty when it can. Heads, heads of keys
 * and every width that is split must divide, and what is left of a quantised width must be whole groups of weights
 * with one scale.
 *
 * @see mlx-lm: `shard` of the model classes; heads that do not divide become 0 or wrong without an error
 */
export function tensorProblems(shape: ModelShape, ranks: number): readonly string[] {
  if (ranks < 2) return [];
  const { heads, kvHeads, attention } = shape;
  const counts: readonly (readonly [what: string, count: number])[] = [
    ['heads', heads],
    ...(attention.kind === 'gqa' ? [['heads of keys and values', kvHeads] as const] : []),
  ];
  const undivided = counts.filter(([, count]) => count % ranks !== 0);
  return [
    ...undivided.map(([what, count]) => `Its ${count} ${what} cannot be divided by ${ranks}.`),
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
    attention.kind === 'mla' ? undefined : { what: 'width of attention', size: heads * headDim },
    intermediate === undefined ? undefined : { what: 'inner width', size: intermediate },
    moeIntermediate === undefined ? undefined : { what: 'inner width of an expert', size: moeIntermediate },
    sharedIntermediate === undefined
      ? undefined
      : { what: 'inner width of the shared expert', size: sharedIntermediate },
  ];
  return all.filter((width) => width !== undefined);
}

function widthProblems({ what, size }: Width, { quant }: ModelShape, ranks: number): readonly string[] {
  if (size % ranks !== 0) return [`Its ${what} of ${size} cannot be divided by ${ranks}.`];
  const part = size / ranks;
  return quant === undefined || part % quant.group === 0
    ? []
    : [`Of its ${what} of ${size} each of ${ranks} has ${part}, no multiple of the ${quant.group} weights of a group.`];
}

/** The counts of ranks, from 2 up to `most`, over which a model can be split by tensors. */
export const tensorCounts = (shape: ModelShape, most: number): readonly number[] =>
  Array.from({ length: Math.max(0, most - 1) }, (_, index) => index + 2).filter(
    (ranks) => tensorProblems(shape, ranks).length === 0,
  );

/** As many nodes as a placement has at most. */
export const mostRanks = 16;

/** Over how many nodes a model can be split by tensors, as advice. */
export function tensorAdvice(shape: ModelShape): string {
  const counts = tensorCounts(shape, mostRanks);
  return counts.length === 0
    ? 'Use sharding: pipeline.'
    : `Use ${listText(counts.map(String), 'or')} nodes, or sharding: pipeline.`;
}
