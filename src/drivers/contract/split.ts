import { mostRanks, tensorProblems } from '../../desired/tensor-limits.ts';
import { listText } from '../../model/lists.ts';
import type { ModelShape } from '../../model/model-shape.ts';

export interface RankSplit {
  readonly shape: ModelShape;
  readonly sharding: 'tensor' | 'pipeline';
  readonly size: number;
  /** The version of mlx-lm; other drivers ignore it. */
  readonly mlxLm: string;
  /** Set if mlx-lm is built from a commit, which can do more than a release with that version. */
  readonly isFork?: true;
  /** The version of exo; other drivers ignore it. */
  readonly exo: string;
  /** The model's repository, which only exo considers; absent if unknown. */
  readonly repository?: string;
}

/** Objections to a split, each a single sentence. */
export interface SplitJudgement {
  /** The model cannot start this way. */
  readonly problems: readonly string[];
  /** It is unknown whether the model can start this way. */
  readonly doubts: readonly string[];
}

/** The split check for runtimes that divide layers freely; `own` adds the runtime's own objections. */
export const judgeTensors = ({ shape, sharding, size }: RankSplit, own: readonly string[] = []): SplitJudgement => ({
  problems: size === 1 || sharding === 'pipeline' ? [] : [...tensorProblems(shape, size), ...own],
  doubts: [],
});

/** Possible splits as advice; undefined if no number of nodes works. */
export function otherSplits(split: RankSplit, judge: (split: RankSplit) => SplitJudgement): string | undefined {
  const sizes = Array.from({ length: mostRanks - 1 }, (_, index) => index + 2);
  const ways = (['tensor', 'pipeline'] as const).flatMap((sharding) => {
    const can = sizes.filter((size) => judge({ ...split, sharding, size }).problems.length === 0);
    return wayText(sharding, split, can);
  });
  return ways.length === 0 ? undefined : `Use ${ways.join(', or ')}.`;
}

/** `2 or 4 nodes`, with the sharding if it differs from the requested one; empty if no number of nodes works. */
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
