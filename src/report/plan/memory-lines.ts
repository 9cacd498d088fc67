import { bytesText } from '../../diagnostics/amount-words.ts';
import { columnsOf } from '../../diagnostics/cells.ts';
import type { NodeFit } from '../../model/fit/memory-fit.ts';
import { budgetWords } from '../fit/budget-words.ts';
import { hang, padEnd } from '../layout.ts';
import type { Page, Tone } from '../page.ts';

const tones: Readonly<Record<string, Tone>> = { 'does-not-fit': 'bad', tight: 'bad', degraded: 'warn' };

function lineText({ shares, unknown, needBytes, budget }: NodeFit, isSourceShown: boolean): string {
  const parts = [
    ...shares.map(({ placement, need }) => `${placement} ${bytesText(need.total)}`),
    ...unknown.map((placement) => `${placement} unknown`),
  ];
  const sum = shares.length > 1 ? ` = ${bytesText(needBytes)}` : '';
  if (budget === undefined) return `${parts.join(' + ')}${sum}, and nobody knows its memory`;
  const source = isSourceShown ? `; ${budgetWords[budget.kind]}` : '';
  const share = `${Math.round((100 * needBytes) / budget.bytes)} %${source}`;
  const of = shares.length === 0 ? '' : ` (${share})`;
  return `${parts.join(' + ')}${sum} of ${bytesText(budget.bytes)}${of}`;
}

/**
 * What every node that carries a placement needs of the memory of its GPU, a line each, and how that memory is known: once
 * where it is the same of all of them. Nothing where none carries one.
 */
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
  return [page.paint('strong', `Memory of the GPUs${source}`), ...lines];
}
