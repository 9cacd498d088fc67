import type { Plan } from '../../../src/engine/plan/plan.ts';
import { sampleOf } from '../../sample.ts';
import { type KillPoint, stepsOf } from './kill-points.ts';
import type { Successor } from './kill-rack.ts';

/** A kill point and the run that follows the kill. */
export type Kill = readonly [KillPoint, Successor];

const successors: readonly Successor[] = ['same', 'empty'];

/** Chooses points for each successor: one in eighty in `.ci/run`, all in `npm run nightly`. */
export const chooseKills = (points: readonly KillPoint[]): readonly Kill[] =>
  sampleOf(
    points.flatMap((point) => successors.map((successor): Kill => [point, successor])),
    { few: 2, oneIn: 80 },
  );

/** Steps with fewer than two kill points. */
export const stepsWithout = (plans: readonly Plan[], points: readonly KillPoint[]): readonly string[] =>
  stepsOf(plans).filter((step) => points.filter((point) => point.step === step).length < 2);

/** The classes and kinds of the steps of plans, without repetition and sorted. */
export const kindsOf = (plans: readonly Plan[]) => {
  const steps = plans.flatMap((plan) => plan.steps);
  return {
    classes: [...new Set(steps.map((step) => step.class))].sort(),
    acts: [...new Set(steps.map(({ act }) => act.kind))].sort(),
  };
};
