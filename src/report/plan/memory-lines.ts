import { columnsOf } from '../../diagnostics/cells.ts';
import type { MemoryBudget, NodeFit } from '../../model/fit.ts';
import { bytesText } from '../../model/text/units.ts';
import type { NodeBudget } from '../../rack/placement/placement-blockers.ts';
import { hang, type Page, padEnd, type Tone } from '../page.ts';

const budgetText = ({ node, budget }: NodeBudget): string => {
  if (budget.kind === 'unknown') return `unknown on ${node}`;
  const { taken, limit, isAssumed, isCounted } = budget.value;
  return `${taken} of ${limit}${isAssumed ? ' (assumed)' : ''}${isCounted ? ' by counting starts' : ''} on ${node}`;
};

/** `RDMA launch budget used: 2 of 10 on studio-1, 2 of 10 on studio-2`; empty if nothing can be started. */
export function budgetLines(budgets: readonly NodeBudget[], page: Page): readonly string[] {
  const text = `RDMA launch budget used: ${budgets.map(budgetText).join(', ')}`;
  return budgets.length === 0 ? [] : hang('  ', text, page.columns);
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
  const share = `${Math.round((100 * needBytes) / budget.bytes)} %${source}`;
  const of = shares.length === 0 ? '' : ` (${share})`;
  return `${parts.join(' + ')}${sum} of ${bytesText(budget.bytes)}${of}`;
}

/** The GPU memory that placements need, one line per node. The title shows the number's source if all nodes share it. */
export function memoryLines(fits: readonly NodeFit[], page: Page): readonly string[] {
  if (fits.length === 0) return [];
  const [kind, ...others] = new Set(fits.flatMap(({ budget }) => (budget === undefined ? [] : [budget.kind])));
  const isMixed = others.length > 0;
  const width = Math.max(...fits.map(({ node }) => columnsOf(node)));
  const lines = fits.flatMap((fit) => {
    const tone = tones[fit.verdict ?? ''];
    const shown = hang(`  ${padEnd(fit.node, width)}  `, lineText(fit, isMixed), page.columns);
    return tone === undefined ? shown : shown.map((line) => page.paint(tone, line));
  });
  const source = kind === undefined || isMixed ? '' : ` (${budgetWords[kind]})`;
  return [page.paint('strong', `GPU memory${source}`), ...lines];
}

/** Where a node's GPU memory limit comes from. */
export const budgetWords: Readonly<Record<MemoryBudget['kind'], string>> = {
  desired: 'set in the file',
  seen: 'set on the node',
  reported: 'reported by a rank',
  assumed: 'assumed',
};
