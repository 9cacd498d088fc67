import { mostRanks, tensorAdvice, tensorProblems } from '../desired/fit/tensor-limits.ts';
import type { DriverName } from '../model/desired.ts';
import type { ModelShape } from '../model/fit/model-shape.ts';
import { undividedByExo } from './exo/divided.ts';
import { oldestVersion } from './mlx/model-classes.ts';
import { splitProblems, tooOld } from './mlx/shards.ts';

/** A model that is to be split over so many ranks. */
export interface AskedSplit {
  readonly driver: DriverName;
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
  /** Nobody knows whether it can. */
  readonly doubts: readonly string[];
}

/** Everything that speaks against a split, as the plan of a placement with this driver would have it; for one rank only the age of mlx-lm. */
export function judgeSplit({ driver, shape, sharding, size, mlxLm }: AskedSplit): SplitJudgement {
  if (driver === 'mlx') {
    const found = splitProblems({ shape, sharding, size, version: mlxLm });
    const isDoubt = ({ kind }: (typeof found)[number]): boolean => kind === 'not-known';
    const texts = (of: typeof found): readonly string[] => of.map(({ detail }) => detail);
    return { problems: texts(found.filter((one) => !isDoubt(one))), doubts: texts(found.filter(isDoubt)) };
  }
  if (size === 1 || sharding === 'pipeline') return { problems: [], doubts: [] };
  if (driver === 'llamacpp-rpc') return { problems: ['llama.cpp gives every node whole layers.'], doubts: [] };
  const own = driver === 'exo' ? undividedByExo(shape, size).map((what) => `exo does not split it: ${what}.`) : [];
  return { problems: [...tensorProblems(shape, size), ...own], doubts: [] };
}

/** Newer than every version of mlx-lm. */
const aboveAll = '9999';

/** What to do about a model that cannot be split so, as a sentence. */
export function splitAdvice(split: AskedSplit): string {
  if (split.driver === 'llamacpp-rpc') return 'Use sharding: pipeline.';
  if (split.driver === 'command') return tensorAdvice(split.shape);
  if (tooOld(split.mlxLm) !== undefined) return `Use mlx-lm ${oldestVersion} or a newer one.`;
  const can = (sharding: AskedSplit['sharding'], size: number): boolean =>
    judgeSplit({ ...split, sharding, size }).problems.length === 0;
  const sizes = Array.from({ length: mostRanks - 1 }, (_, index) => index + 2);
  const ways = [
    ...wayText(
      'tensor',
      split,
      sizes.filter((size) => can('tensor', size)),
    ),
    ...wayText(
      'pipeline',
      split,
      sizes.filter((size) => can('pipeline', size)),
    ),
  ];
  if (ways.length > 0) return `Use ${ways.join(', or ')}.`;
  const { problems, doubts } = judgeSplit({ ...split, mlxLm: aboveAll });
  return problems.length + doubts.length === 0
    ? 'Use a newer mlx-lm, one node, or another runtime.'
    : 'Use one node, or another runtime.';
}

/** `2 or 4 nodes`, with the sharding where it is another one than was asked for; nothing where no size will do. */
function wayText(
  sharding: AskedSplit['sharding'],
  asked: Pick<AskedSplit, 'sharding' | 'size'>,
  sizes: readonly number[],
): readonly string[] {
  const [last, ...rest] = sizes.toReversed();
  if (last === undefined) return [];
  const isOther = sharding !== asked.sharding;
  if (isOther && sizes.includes(asked.size)) return [`sharding: ${sharding}`];
  const list = rest.length === 0 ? `${last}` : `${rest.toReversed().join(', ')} or ${last}`;
  return [`${isOther ? `sharding: ${sharding} on ` : ''}${list} nodes`];
}
