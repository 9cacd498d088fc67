import { escapeText } from '../../diagnostics/escape.ts';
import { proseText } from '../../diagnostics/prose-text.ts';
import { isEmptyPlan } from '../../engine/plan/is-empty-plan.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Prose } from '../../model/text/prose.ts';
import type { NodeBudget } from '../../rack/placement/start/launch-budgets.ts';
import { counted } from '../counted.ts';
import { findingLines } from '../finding-lines.ts';
import { headLines } from '../head-lines.ts';
import { fitLines, hang } from '../layout.ts';
import { mergeFindings } from '../merge-findings.ts';
import { nodesText } from '../nodes-text.ts';
import { type Page, type Paint, pageOf } from '../page.ts';
import { seenText } from '../unreached.ts';
import { blockerBlocks } from './blocker-lines.ts';
import { budgetLines } from './budget-lines.ts';
import { changeLines } from './change-lines.ts';
import { denialText, effectTexts, transferTexts } from './effect-lines.ts';
import { memoryLines } from './memory-lines.ts';
import { waitingLines } from './waiting-lines.ts';

/** What `plan` shows, and on what. */
export interface PlanTextInput {
  readonly plan: Plan;
  readonly isSimulated: boolean;
  /** What the lock file gains or changes, in words, and what it is called. */
  readonly lock: { readonly shown: string; readonly additions: readonly string[] };
  /** Of launches over RDMA; shown where something is to be started. */
  readonly budgets?: readonly NodeBudget[] | undefined;
  /** What to type now, a line each; shown only when there is something to do. */
  readonly next: readonly Prose[];
  /** What is said where nothing is to be done; that all is as the file says unless given. */
  readonly nothing?: string;
  /** Width of the page; 80 when it is 0, NaN or endless. */
  readonly columns: number;
  readonly unicode: boolean;
  /** Leaves text as it is unless given. */
  readonly paint?: Paint;
}

/** Whether a plan has a step that a machine can take. */
export const hasMachineSteps = ({ steps }: Pick<Plan, 'steps'>): boolean =>
  steps.some(({ act }) => act.kind !== 'hands');

const ofBudget: readonly string[] = ['mesh/launch-budget', 'placement/too-few-queue-pairs'];

/** Whether anything of it takes of a budget, or waits for want of one. */
const isStarting = ({ steps, blockers }: Plan): boolean =>
  steps.some(({ act }) => act.kind === 'script' && act.name === 'kick-rank') ||
  blockers.some(({ code }) => ofBudget.includes(code));

/** Whether memory keeps a placement from being started. */
const isTooMuch = ({ blockers }: Plan): boolean =>
  blockers.some(({ code }) => code === 'placement/does-not-fit' || code === 'placement/tight');

/**
 * A plan on one page: the work list, the changes node by node, what waits, what it disturbs, and what to type. Nothing
 * that is as it should be is listed. Everything that came from a node is escaped; ends with a line break.
 */
export function planText(input: PlanTextInput): string {
  const { plan, lock } = input;
  const page = pageOf(input);
  const count = Object.keys(plan.observed).length;
  const head = { name: plan.cluster, about: seenText(count, plan.unreached), isSimulated: input.isSimulated };
  const blocks: readonly (readonly string[])[] = [
    headLines(head, page),
    ...findingBlocks(plan, page, isUrgent),
    ...blockerBlocks(plan.blockers, page),
    changeLines(plan.changes, page),
    waitingLines(plan, page),
    lockLines(lock, page),
    ...findingBlocks(plan, page, (code) => !isUrgent(code)),
    isStarting(plan) ? budgetLines(input.budgets ?? [], page) : [],
    isStarting(plan) || isTooMuch(plan) ? memoryLines(plan.memory ?? [], page) : [],
    verdictLines(input, page),
    hasMachineSteps(plan) || lock.additions.length > 0 ? input.next.map((line) => proseText(line, page)) : [],
  ];
  const shown = blocks.filter((lines) => lines.length > 0);
  return `${shown.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** What does harm while somebody reads the rest. */
const isUrgent = (code: string): boolean => code === 'bridge/loop';

const findingBlocks = (
  { diagnostics }: Plan,
  page: Page,
  isMeant: (code: string) => boolean,
): readonly (readonly string[])[] =>
  mergeFindings(diagnostics.filter(({ code }) => isMeant(code))).map((finding) => findingLines(finding, page));

/** What is to be disturbed; or that there is nothing to do, which is said only of what was seen. */
function verdictLines({ plan, nothing }: PlanTextInput, page: Page): readonly string[] {
  if (hasMachineSteps(plan)) {
    const said = [...effectTexts(plan), ...transferTexts(plan)];
    const effects = said.length === 0 ? [] : [`Effects: ${said.join('; ')}.`];
    return [...effects, denialText(plan.effects)]
      .filter((line) => line !== '')
      .flatMap((line) => fitLines(line, page.columns));
  }
  const count = Object.keys(plan.observed).length;
  if (!isEmptyPlan(plan)) return fitLines('There is nothing that apply can change now.', page.columns);
  if (nothing !== undefined) return fitLines(nothing, page.columns);
  if (count === 0) return fitLines('No node was observed.', page.columns);
  const lost = Object.keys(plan.unreached ?? {});
  const match = count === 1 ? 'matches' : 'match';
  const not = lost.length === 0 ? '' : ` Not reached: ${nodesText(lost)}.`;
  return fitLines(`Nothing to change: ${counted(count, 'node')} ${match} the file.${not}`, page.columns);
}

const lockLines = ({ shown, additions }: PlanTextInput['lock'], page: Page): readonly string[] =>
  additions.length === 0
    ? []
    : [
        page.paint('strong', `New in ${shown} (${additions.length})`),
        ...additions.flatMap((line) => hang('  ', escapeText(line), page.columns)),
      ];
