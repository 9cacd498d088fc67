import type { Plan } from './plan.ts';

/** Whether nothing is left to do, to wait for or to find out: every target is as the file says. */
export const isEmptyPlan = ({ changes, steps, waiting, blockers }: Plan): boolean =>
  changes.length + steps.length + waiting.length + blockers.length === 0;
