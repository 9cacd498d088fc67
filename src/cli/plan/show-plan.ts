import type { Plan } from '../../engine/plan/plan.ts';
import type { StepScript } from '../../engine/scripts/step-scripts.ts';
import type { Prose } from '../../model/text/prose.ts';
import type { NodeBudget } from '../../rack/placement/start/launch-budgets.ts';
import { type PlanTextInput, planText } from '../../report/plan/plan-text.ts';
import { pageFor } from '../terminal/paint.ts';
import type { Run } from '../verb/verb.ts';
import { commentMark, scriptsText } from './scripts-text.ts';

/** What is shown beside a plan. */
export interface ShownPlanParts {
  readonly isSimulated: boolean;
  readonly lock: { readonly shown: string; readonly additions: readonly string[] };
  /** Of launches over RDMA, where any can come. */
  readonly budgets: readonly NodeBudget[] | undefined;
  /** What to type now. */
  readonly next: readonly Prose[];
  /** What is said where nothing is to be done; that all is as the file says unless given. */
  readonly nothing?: string;
}

type Page = Pick<PlanTextInput, 'columns' | 'unicode' | 'paint' | 'isSimulated'>;

/** Logs a plan and shows it as text; with `--json` it shows nothing. */
export function showPlan(run: Run, plan: Plan, parts: ShownPlanParts): void {
  run.log?.write({ kind: 'plan', plan });
  if (run.options.json) return;
  run.console.out(textOf(plan, parts, pageFor(run.console)));
}

const textOf = (plan: Plan, parts: ShownPlanParts, page: Page): string => planText({ plan, ...parts, ...page });

/** Shows the scripts of root of a plan, behind the plan itself as comments: that says what was not seen, and what waits. */
export function showScripts(run: Run, plan: Plan, parts: ShownPlanParts, scripts: readonly StepScript[]): void {
  run.log?.write({ kind: 'plan', plan });
  if (run.options.json) return;
  const { columns, hasUnicode: unicode, isSimulated } = run.console;
  const text = textOf(plan, parts, { columns: columns - commentMark.length, unicode, isSimulated });
  run.console.out(scriptsText(text, scripts));
}
