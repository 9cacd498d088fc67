import { proseText } from '../../diagnostics/prose-text.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Prose } from '../../model/text/prose.ts';
import { counted } from '../counted.ts';
import { findingLines } from '../finding-lines.ts';
import { headLines } from '../head-lines.ts';
import { fitLines } from '../layout.ts';
import { mergeFindings } from '../merge-findings.ts';
import { nodesText } from '../nodes-text.ts';
import { type Page, type Paint, pageOf } from '../page.ts';
import { seenText } from '../unreached.ts';
import { changeLines } from './change-lines.ts';

/** What `drift` shows, and on what. */
export interface DriftTextInput {
  readonly plan: Plan;
  readonly isSimulated: boolean;
  /** What the lock has not got yet, and what it is called. */
  readonly lock: { readonly shown: string; readonly additions: readonly string[] };
  /** The command that shows the rest. */
  readonly next: Prose;
  readonly columns: number;
  readonly unicode: boolean;
  readonly paint?: Paint;
}

/** Where nodes are not as the file says, briefly: changes in full, the rest counted, and one line for the whole. */
export function driftText(input: DriftTextInput): string {
  const { plan } = input;
  const page = pageOf(input);
  const count = Object.keys(plan.observed).length;
  const errors = plan.diagnostics.filter((one) => one.severity === 'error');
  const blocks: readonly (readonly string[])[] = [
    headLines({ name: plan.cluster, about: seenText(count, plan.unreached), isSimulated: input.isSimulated }, page),
    changeLines(plan.changes, page),
    ...mergeFindings(errors).map((finding) => findingLines(finding, page)),
    verdictLines(input, count, page),
  ];
  const shown = blocks.filter((lines) => lines.length > 0);
  return `${shown.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function verdictLines({ plan, lock, next }: DriftTextInput, count: number, page: Page): readonly string[] {
  const { changes, blockers, waiting } = plan;
  const parts = [
    ...(changes.length === 0 ? [] : [`${counted(changes.length, 'change')} pending`]),
    ...(blockers.length === 0 ? [] : [`${blockers.length} on the work list`]),
    ...(waiting.length === 0 ? [] : [`${waiting.length} waiting`]),
    ...(lock.additions.length === 0 ? [] : [`${lock.additions.length} missing in ${lock.shown}`]),
  ];
  if (count === 0) return fitLines('No node was observed.', page.columns);
  const lost = Object.keys(plan.unreached ?? {});
  const not = lost.length === 0 ? '' : ` Not reached: ${nodesText(lost)}.`;
  if (parts.length > 0) return [...fitLines(`${parts.join(', ')}.${not}`, page.columns), proseText(next, page)];
  const found = lost.length === 0 ? 'No drift' : 'No drift seen';
  return fitLines(
    `${found}: ${counted(count, 'node')} ${count === 1 ? 'matches' : 'match'} the file.${not}`,
    page.columns,
  );
}
