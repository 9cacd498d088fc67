import type { Plan } from '../../../src/plan/plan.ts';
import { isFull } from '../../is-full.ts';
import { type KillPoint, stepsOf } from './kill-points.ts';
import type { Successor } from './kill-rack.ts';

/** A point, and who comes afterwards. */
export type Kill = readonly [KillPoint, Successor];

const successors: readonly Successor[] = ['same', 'empty'];

/**
 * Who comes after a kill at this point. What the journal of the killed run says is known to the first of them alone, so
 * that both are tried at each of its records. At what a node has just received they differ by less: `.ci/run` tries them
 * in turn, and `npm run nightly` both.
 */
const successorsOf = ({ kind }: KillPoint, at: number): readonly Successor[] =>
  kind === 'exec' && isFull && process.env['MESHWRIGHT_KILLS'] !== 'each'
    ? successors.slice(at % 2, (at % 2) + 1)
    : successors;

/** Numbers below 2^32 that follow from a seed and are spread well enough. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state;
  }
}

/** Every point for its successors; without MESHWRIGHT_FULL only as many as asked, always the same ones. */
export function chooseKills(points: readonly KillPoint[], count: number): readonly Kill[] {
  const all = points.flatMap((point, at) => successorsOf(point, at).map((successor): Kill => [point, successor]));
  if (isFull) return all;
  const random = numbers(20_261_120);
  const order = new Map(all.map((one) => [one, random.next().value]));
  return all.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0)).slice(0, count);
}

/** How many kills a whole enumeration has. */
export const countOfAll = (points: readonly KillPoint[]): number =>
  new Set(
    points.flatMap((point, at) =>
      successorsOf(point, at).map((successor) => `${point.kind} ${point.key} ${successor}`),
    ),
  ).size;

/** Steps with less than two instants at which the controller is killed. */
export const stepsWithout = (plans: readonly Plan[], points: readonly KillPoint[]): readonly string[] =>
  stepsOf(plans).filter((step) => points.filter((point) => point.step === step).length < 2);

/** What the steps of some plans are, without repetition and sorted. */
export const kindsOf = (plans: readonly Plan[]) => {
  const steps = plans.flatMap((plan) => plan.steps);
  return {
    classes: [...new Set(steps.map((step) => step.class))].sort(),
    acts: [...new Set(steps.map(({ act }) => act.kind))].sort(),
  };
};
