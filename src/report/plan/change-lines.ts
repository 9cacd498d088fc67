import { columnsOf } from '../../diagnostics/cells.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { Change } from '../../model/step.ts';
import { counted } from '../counted.ts';
import { hang, padEnd } from '../layout.ts';
import type { Page } from '../page.ts';

const narrow = 60;
const gap = '   ';

const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(columnsOf));

/** The changes of a plan, node after node: address, what it is, what it will be. Empty for none. */
export function changeLines(changes: readonly Change[], page: Page): readonly string[] {
  if (changes.length === 0) return [];
  const nodes = [...new Set(changes.map(({ node }) => node))];
  const title = `Changes (${changes.length} on ${counted(nodes.length, 'node')})`;
  const columns = columnsFor(changes, page);
  const rows = nodes.flatMap((node) => {
    const own = changes.filter((change) => change.node === node);
    return columns.isOneLine ? tableRows(node, own, columns) : blockRows(node, own, columns);
  });
  return [page.paint('strong', title), ...rows];
}

interface Columns {
  readonly node: number;
  readonly address: number;
  readonly from: number;
  /** Whether every change fits on a line of its own behind its node. */
  readonly isOneLine: boolean;
  readonly page: number;
}

function columnsFor(changes: readonly Change[], page: Page): Columns {
  const node = widest(changes.map((change) => change.node));
  const address = widest(changes.map((change) => change.resource));
  const from = widest(changes.map((change) => escapeText(change.from)));
  const to = widest(changes.map((change) => escapeText(change.to)));
  const width = 2 + node + gap.length + address + gap.length + from + 4 + to;
  return { node, address, from, isOneLine: width <= page.columns, page: page.columns };
}

function tableRows(node: string, changes: readonly Change[], columns: Columns): readonly string[] {
  return changes.map(({ resource, from, to }, index) => {
    const name = padEnd(index === 0 ? node : '', columns.node);
    const values = `${padEnd(escapeText(from), columns.from)} -> ${escapeText(to)}`;
    return `  ${name}${gap}${padEnd(resource, columns.address)}${gap}${values}`;
  });
}

/** The node above its changes; on a narrow page each address above its values, too. */
function blockRows(node: string, changes: readonly Change[], { address, page }: Columns): readonly string[] {
  return [
    `  ${node}`,
    ...changes.flatMap((change) => {
      const isNarrow = page < narrow;
      const first = isNarrow ? '      ' : `    ${padEnd(change.resource, address)}${gap}`;
      const above = isNarrow ? hang('    ', change.resource, page) : [];
      return [...above, ...valueLines(first, change, page)];
    }),
  ];
}

/** Both values on one line, or what it will be below what it is. */
function valueLines(first: string, { from, to }: Change, page: number): readonly string[] {
  const [before, after] = [escapeText(from), escapeText(to)];
  const both = `${before} -> ${after}`;
  if (columnsOf(first) + columnsOf(both) <= page) return [`${first}${both}`];
  return [...hang(first, before, page), ...hang(' '.repeat(columnsOf(first)), `-> ${after}`, page)];
}
