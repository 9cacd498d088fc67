import { listText } from '../desired/did-you-mean.ts';
import { paceOf } from '../desired/fit-macs.ts';
import { mostRanks, tensorAdvice, tensorProblems } from '../desired/tensor-limits.ts';
import type { DriverName } from '../model/desired.ts';
import type { FitFleet, FitPlacement, ModelFit } from '../model/fit.ts';
import { given } from '../model/given.ts';
import type { ModelShape } from '../model/model-shape.ts';
import { undividedByExo } from './exo/check.ts';
import { type NearestFit, type NearestSearch, nearestFit, nearestText } from './fit-nearest.ts';
import { fitPlacements, worstVerdict } from './fit-placements.ts';
import { lastVersionRead, oldestVersion, splitProblems, tooOld } from './mlx/shards.ts';

/** A model that is put on Macs on paper. */
interface AskedFit extends Pick<NearestSearch, 'links'> {
  /** As it is shown. */
  readonly name: string;
  readonly shape: ModelShape;
  /** In rank order; all of them are in the fleet. */
  readonly macs: readonly FitFleet['nodes'][number][];
  /** Further Macs of the same kind, which exist nowhere: only their number may be proposed. */
  readonly more?: readonly FitFleet['nodes'][number][];
  /** What else serves on these Macs, and the nodes of the file that could be taken instead. */
  readonly fleet: FitFleet;
}

/** How it is to run. */
interface FitHow {
  readonly driver: DriverName;
  /** Of mlx; absent: the last version that is known here. */
  readonly mlxLm?: string;
  /** Absent: what the driver does best. */
  readonly sharding?: 'tensor' | 'pipeline';
  readonly contextTokens: number;
  readonly parallel: number;
}

/** A name that cannot stand in a file. */
const asked = 'asked +';

const sizeOf = (nearest: NearestFit | undefined): string | undefined =>
  nearest?.kind === 'nodes' ? `It fits on ${nearest.nodes.length} Macs of this kind.` : undefined;

/** Whether a model fits on Macs and can be split over them, as the plan of such a placement would have it. */
export function judgeModelFit({ name, shape, macs, more = [], fleet, links }: AskedFit, how: FitHow): ModelFit {
  const { driver, contextTokens, parallel } = how;
  const sharding =
    macs.length === 1 ? undefined : (how.sharding ?? (driver === 'llamacpp-rpc' ? 'pipeline' : 'tensor'));
  const placement: FitPlacement = {
    name,
    model: asked,
    runtime: asked,
    nodes: macs.map((mac) => mac.name),
    ...given({ sharding }),
    contextTokens,
    parallel,
    state: 'serving',
  };
  const whole = {
    ...fleet,
    runtimes: [...fleet.runtimes, { name: asked, driver }],
    models: [...fleet.models, { name: asked, shape }],
    placements: [...fleet.placements, placement],
  };
  const fits = fitPlacements(whole);
  const verdict = worstVerdict(placement, fits) ?? 'fits';
  const search = { fleet: whole, seen: {}, ...given({ links }) };
  const nearest = verdict === 'fits' ? undefined : nearestFit(placement, search);
  const isRefused = verdict === 'tight' || verdict === 'does-not-fit';
  const mlxLm = how.mlxLm ?? lastVersionRead;
  const split = { driver, shape, sharding: sharding ?? 'tensor', size: macs.length, mlxLm } as const;
  const { problems, doubts } = judgeSplit(split);
  const where = fleet.nodes.length > macs.length ? 'the nodes of this file' : 'these Macs';
  const words = nearestText(nearest, driver, where);
  const larger = { ...search, fleet: { ...whole, nodes: [...whole.nodes, ...more] } };
  const count = isRefused && nearest === undefined ? sizeOf(nearestFit(placement, larger)) : undefined;
  const hint = isRefused || nearest !== undefined ? (count ?? words) : undefined;
  const advice = problems.length > 0 ? splitAdvice(split) : hint;
  const models = macs.flatMap(({ name: mac, hardware: { model } }) =>
    model === undefined ? [] : [{ name: mac, model }],
  );
  const pace = models.length < macs.length ? undefined : paceOf(models);
  return {
    model: name,
    shape,
    driver,
    ...given({ sharding }),
    contextTokens,
    parallel,
    nodes: macs.flatMap((mac) => fits.filter(({ node }) => node === mac.name)),
    verdict,
    problems,
    doubts,
    ...(pace === undefined ? {} : { pace: pace.detail }),
    ...(driver === 'mlx' ? { mlxLm: { version: mlxLm, isAssumed: how.mlxLm === undefined } } : {}),
    ...given({ advice }),
  };
}

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
interface SplitJudgement {
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
  const ways = (['tensor', 'pipeline'] as const).flatMap((sharding) =>
    wayText(
      sharding,
      split,
      sizes.filter((size) => can(sharding, size)),
    ),
  );
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
  if (sizes.length === 0) return [];
  const isOther = sharding !== asked.sharding;
  if (isOther && sizes.includes(asked.size)) return [`sharding: ${sharding}`];
  return [`${isOther ? `sharding: ${sharding} on ` : ''}${listText(sizes.map(String), 'or')} nodes`];
}
