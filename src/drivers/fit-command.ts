import { paceOf } from '../desired/fit-macs.ts';
import { tensorAdvice } from '../desired/tensor-limits.ts';
import type { DriverName } from '../model/desired.ts';
import type { FitFleet, FitPlacement, ModelFit } from '../model/fit.ts';
import { given } from '../model/given.ts';
import type { ModelShape } from '../model/model-shape.ts';
import { judgeTensors, type RankSplit, type SplitJudgement } from './contract/split.ts';
import { type NearestFit, type NearestSearch, nearestFit, nearestText } from './fit-nearest.ts';
import { fitPlacements, worstVerdict } from './fit-placements.ts';
import { newestExo, newestMlxLm } from './known/model-types.ts';
import { driverOf } from './registry.ts';

/** A model on a hypothetical set of Macs. */
interface AskedFit extends Pick<NearestSearch, 'links'> {
  /** The displayed name. */
  readonly name: string;
  readonly shape: ModelShape;
  /** The model's repository; absent if unknown. */
  readonly repository?: string;
  /** In rank order; all of them are part of the fleet. */
  readonly macs: readonly FitFleet['nodes'][number][];
  /** Further Macs of the same kind that do not exist; only their number is suggested. */
  readonly more?: readonly FitFleet['nodes'][number][];
  /** Other placements on these Macs, and further nodes in the file that could be used. */
  readonly fleet: FitFleet;
}

/** Settings of the hypothetical placement; without `sharding`, the driver's preferred one. */
export interface FitHow extends Pick<ModelFit, 'driver' | 'sharding' | 'contextTokens' | 'parallel'> {
  /** For mlx only; absent: the newest version known to this program. */
  readonly mlxLm?: string;
  /** For mlx only: the version is that of a commit. */
  readonly isFork?: true;
  /** For exo only; absent: the newest release known to this program. */
  readonly exo?: string;
}

/** Not a valid name in a file, so it cannot collide with one. */
const askedName = 'asked +';

const sizeOf = (nearest: NearestFit | undefined): string | undefined =>
  nearest?.kind === 'nodes' ? `The model fits on ${nearest.nodes.length} Macs of this kind.` : undefined;

/** Checks whether a model fits on Macs and can be split over them, with the same checks as a plan. */
export function judgeModelFit(asked: AskedFit, how: FitHow): ModelFit {
  const { name, shape, repository, macs, more = [], fleet, links } = asked;
  const { driver, contextTokens, parallel } = how;
  const sharding =
    macs.length === 1 ? undefined : (how.sharding ?? (driverOf(how).splitsLayers ? 'pipeline' : 'tensor'));
  const placement: FitPlacement = {
    name,
    model: askedName,
    runtime: askedName,
    nodes: macs.map((mac) => mac.name),
    ...given({ sharding }),
    contextTokens,
    parallel,
    state: 'serving',
  };
  const whole = {
    ...fleet,
    runtimes: [...fleet.runtimes, { name: askedName, driver }],
    models: [...fleet.models, { name: askedName, shape }],
    placements: [...fleet.placements, placement],
  };
  const fits = fitPlacements(whole);
  const verdict = worstVerdict(placement, fits) ?? 'fits';
  const search = { fleet: whole, seen: {}, ...given({ links }) };
  const nearest = verdict === 'fits' ? undefined : nearestFit(placement, search);
  const isRefused = verdict === 'tight' || verdict === 'does-not-fit';
  const { mlxLm = newestMlxLm, exo = newestExo.release } = how;
  const split = {
    driver,
    shape,
    sharding: sharding ?? 'tensor',
    size: macs.length,
    mlxLm,
    exo,
    ...given({ repository, isFork: how.isFork }),
  } as const;
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
    ...(driver === 'exo' ? { exo: { version: exo, isAssumed: how.exo === undefined } } : {}),
    ...given({ advice }),
  };
}

export interface AskedSplit extends RankSplit {
  readonly driver: DriverName;
}

/** Objections to a split, the same as in a plan with this driver. */
export const judgeSplit = (split: AskedSplit): SplitJudgement =>
  driverOf(split).judgeSplit?.(split) ?? judgeTensors(split);

/** Advice for a model that cannot be split this way, as a sentence. */
export const splitAdvice = (split: AskedSplit): string =>
  driverOf(split).splitAdvice?.(split) ?? tensorAdvice(split.shape);
