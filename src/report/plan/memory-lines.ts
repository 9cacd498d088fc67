import { columnsOf, firmSpace } from '../../diagnostics/cells.ts';
import type { MemoryBudget, NodeFit } from '../../model/fit.ts';
import { alike, groupBy } from '../../model/lists.ts';
import { everyNodeText } from '../../model/node.ts';
import { bytesText } from '../../model/text/units.ts';
import type { NodeBudget } from '../../rack/placement/placement-blockers.ts';
import { hang, type Page, padEnd, type Tone } from '../page.ts';

const budgetText = ({ budget }: NodeBudget): string => {
  if (budget.kind === 'unknown') return 'unknown';
  const { taken, limit, isAssumed, isCounted } = budget.value;
  return `${taken} of ${limit}${isAssumed ? ' (assumed)' : ''}${isCounted ? ' by counting starts' : ''}`;
};

const namesOf = (all: readonly { readonly node: string }[]): string => everyNodeText(all.map(({ node }) => node));

/** `RDMA launch budget used: 2 of 10 on studio-1..4`; empty if no placement can be launched. */
export function budgetLines(budgets: readonly NodeBudget[], page: Page): readonly string[] {
  const texts = [...groupBy(budgets, budgetText)].map(([text, same]) => `${text} on ${namesOf(same)}`);
  return texts.length === 0 ? [] : hang('  ', `RDMA launch budget used: ${texts.join('; ')}`, page.columns);
}

const tones: Readonly<Record<string, Tone>> = { 'does-not-fit': 'bad', tight: 'bad', degraded: 'warn' };

function lineText({ shares, unknown, needBytes, budget }: NodeFit, isSourceShown: boolean): string {
  const parts = [
    ...shares.map(({ placement, need }) => `${placement} ${bytesText(need.total)}`),
    ...unknown.map((placement) => `${placement} unknown`),
  ];
  const sum = shares.length > 1 ? ` = ${bytesText(needBytes)}` : '';
  if (budget === undefined) return `${parts.join(' + ')}${sum} of unknown GPU memory`;
  const source = isSourceShown ? `; ${budgetWords[budget.kind]}` : '';
  const share = `${Math.round((100 * needBytes) / budget.bytes)}${firmSpace}%${source}`;
  const of = shares.length === 0 ? '' : ` (${share})`;
  return `${parts.join(' + ')}${sum} of ${bytesText(budget.bytes)}${of}`;
}

/** The GPU memory that placements need, one line for nodes with the same numbers. The title shows the number's source if all nodes share it. */
export function memoryLines(fits: readonly NodeFit[], page: Page): readonly string[] {
  if (fits.length === 0) return [];
  const [kind, ...others] = new Set(fits.flatMap(({ budget }) => (budget === undefined ? [] : [budget.kind])));
  const isMixed = others.length > 0;
  const rows = alike(fits, (fit) => `${fit.verdict} ${lineText(fit, isMixed)}`);
  const width = Math.max(...rows.map(([, same]) => columnsOf(namesOf(same))));
  const lines = rows.flatMap(([fit, same]) => {
    const tone = tones[fit.verdict ?? ''];
    const shown = hang(`  ${padEnd(namesOf(same), width)}  `, lineText(fit, isMixed), page.columns);
    return tone === undefined ? shown : shown.map((line) => page.paint(tone, line));
  });
  const source = kind === undefined || isMixed ? '' : ` (${budgetWords[kind]})`;
  return [page.paint('strong', `GPU memory${source}`), ...lines];
}

export const budgetWords: Readonly<Record<MemoryBudget['kind'], string>> = {
  desired: 'set in the file',
  seen: 'set on the node',
  reported: 'reported by a rank',
  assumed: 'assumed',
};
