import type { Plan } from '../plan/plan.ts';
import { planText } from '../report/plan-text.ts';
import { paintFor } from './paint.ts';
import { simulatedPlan } from './simulated-hints.ts';
import type { Run } from './verb.ts';

/** What is shown beside a plan. */
export interface ShownPlanParts {
  readonly isSimulated: boolean;
  readonly lock: { readonly shown: string; readonly additions: readonly string[] };
  /** What to type now. */
  readonly next: readonly string[];
}

/** Shows a plan as text; with `--json` nothing. */
export function showPlan(run: Run, plan: Plan, { isSimulated, lock, next }: ShownPlanParts): void {
  if (run.options.json) return;
  const { columns, hasUnicode: unicode, hasColor } = run.console;
  const shown = isSimulated ? simulatedPlan(plan) : plan;
  run.console.out(planText({ plan: shown, isSimulated, lock, next, columns, unicode, paint: paintFor(hasColor) }));
}
