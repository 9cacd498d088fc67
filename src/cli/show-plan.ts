import type { Plan } from '../plan/plan.ts';
import { planText } from '../report/plan-text.ts';
import type { NodeBudget } from '../resources/launch-budgets.ts';
import { paintFor } from './paint.ts';
import { simulatedPlan } from './simulated-hints.ts';
import type { Run } from './verb.ts';

/** What is shown beside a plan. */
export interface ShownPlanParts {
  readonly isSimulated: boolean;
  readonly lock: { readonly shown: string; readonly additions: readonly string[] };
  /** Of launches over RDMA, where any can come. */
  readonly budgets: readonly NodeBudget[] | undefined;
  /** What to type now. */
  readonly next: readonly string[];
  /** What is said where nothing is to be done; that all is as the file says unless given. */
  readonly nothing?: string;
}

/** Shows a plan as text; with `--json` nothing. */
export function showPlan(run: Run, plan: Plan, { isSimulated, ...parts }: ShownPlanParts): void {
  if (run.options.json) return;
  const { columns, hasUnicode: unicode, hasColor } = run.console;
  const shown = isSimulated ? simulatedPlan(plan) : plan;
  run.console.out(planText({ plan: shown, isSimulated, ...parts, columns, unicode, paint: paintFor(hasColor) }));
}
