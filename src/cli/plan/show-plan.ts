import type { Plan } from '../../engine/plan/plan.ts';
import { type PlanTextInput, planText } from '../../report/plan/plan-text.ts';
import { pageFor } from '../terminal/console.ts';
import type { Run } from '../verb.ts';

/** What is shown beside a plan; `next` is what to type now. */
export type ShownPlanParts = Pick<PlanTextInput, 'lock' | 'budgets' | 'next' | 'nothing'>;

/** Logs a plan and shows it as text; with `--json` it shows nothing. */
export function showPlan(run: Run, plan: Plan, parts: Omit<ShownPlanParts, 'next'> & Partial<ShownPlanParts>): void {
  run.log?.write({ kind: 'plan', plan });
  if (!run.options.json) run.console.out(planText({ plan, next: [], ...parts, ...pageFor(run.console) }));
}
