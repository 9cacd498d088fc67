import { listText } from '../../desired/did-you-mean.ts';
import { mostRanks, tensorProblems } from '../../desired/tensor-limits.ts';
import type { ModelShape } from '../../model/model-shape.ts';

/** A model that is to be split over so many ranks. */
export interface RankSplit {
  readonly shape: ModelShape;
  readonly sharding: 'tensor' | 'pipeline';
  readonly size: number;
  /** The version of mlx-lm; of other drivers it says nothing. */
  readonly mlxLm: string;
}

/** What speaks against a split, one sentence each. */
export interface SplitJudgement {
  /** It cannot be started so. */
  readonly problems: readonly string[];
  /** It is unknown whether it can. */
  readonly doubts: readonly string[];
}

/** What speaks against a split of a runtime that divides layers as they come; `own` is what it says of tensors besides. */
export const judgeTensors = ({ shape, sharding, size }: RankSplit, own: readonly string[] = []): SplitJudgement => ({
  problems: size === 1 || sharding === 'pipeline' ? [] : [...tensorProblems(shape, size), ...own],
  doubts: [],
});

/** The splits that can be, as advice; undefined where no number of nodes will do. */
export function otherSplits(split: RankSplit, judge: (split: RankSplit) => SplitJudgement): string | undefined {
  const sizes = Array.from({ length: mostRanks - 1 }, (_, index) => index + 2);
  const ways = (['tensor', 'pipeline'] as const).flatMap((sharding) => {
    const can = sizes.filter((size) => judge({ ...split, sharding, size }).problems.length === 0);
    return wayText(sharding, split, can);
  });
  return ways.length === 0 ? undefined : `Use ${ways.join(', or ')}.`;
}

/** `2 or 4 nodes`, with the sharding where it is another one than was asked for; nothing where no size will do. */
function wayText(
  sharding: RankSplit['sharding'],
  asked: Pick<RankSplit, 'sharding' | 'size'>,
  sizes: readonly number[],
): readonly string[] {
  if (sizes.length === 0) return [];
  const isOther = sharding !== asked.sharding;
  if (isOther && sizes.includes(asked.size)) return [`sharding: ${sharding}`];
  return [`${isOther ? `sharding: ${sharding} on ` : ''}${listText(sizes.map(String), 'or')} nodes`];
}
