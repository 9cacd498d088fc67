import { escapeLines } from '../../diagnostics/escape.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { aroundScripts, type StepScript } from '../../engine/scripts/step-scripts.ts';
import type { Prose } from '../../model/text/prose.ts';
import type { NodeBudget } from '../../rack/placement/start/launch-budgets.ts';
import { type PlanTextInput, planText } from '../../report/plan/plan-text.ts';
import { pageFor } from '../terminal/console.ts';
import type { Run } from '../verb.ts';

/** What is shown beside a plan. */
interface ShownPlanParts {
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

const line = '# ----------------------------------------------------------------------';

/** What a line of the plan begins with, so that a shell reads over it. */
const commentMark = '# ';

/** Every script of root of a plan, whole and in its order, behind the plan's own text, for people who read what they allow. */
function scriptsText(plan: string, scripts: readonly StepScript[]): string {
  const comments = plan
    .trimEnd()
    .split('\n')
    .map((text) => `${commentMark}${text}`.trimEnd());
  if (scripts.length === 0) return `${[...comments, '#', '# It sends no script to root.'].join('\n')}\n`;
  const titles = scripts.map(({ step }) => `#   ${step}`);
  const head = [
    ...comments,
    '#',
    `# ${scripts.length === 1 ? '1 script' : `${scripts.length} scripts`} for root, each sent alone, by standard input, to: sudo -n /bin/sh -s`,
    ...titles,
    '#',
    '# In the place of RUN, token 0, CONFIG, USER and HOST stands what the run itself is and has.',
  ];
  const parts = [
    head.join('\n'),
    [line, '# Around every one of them:', line, aroundScripts()].join('\n'),
    ...scripts.map(({ step, text }) => [line, `# ${step}`, line, text].join('\n')),
  ];
  return escapeLines(`${parts.join('\n\n')}\n`);
}
