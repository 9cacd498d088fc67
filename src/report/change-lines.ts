import { columnsOf } from '../diagnostics/cells.ts';
import { escapeText } from '../diagnostics/escape.ts';
import type { Change } from '../model/step.ts';
import { counted } from './counted.ts';
import { hang, padEnd } from './layout.ts';
import type { Page } from './page.ts';

const narrow = 60;
/** Longer addresses push their values to the right when not all values fit beside them. */
const usualAddress = 20;

const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(columnsOf));

/** The changes of a plan, node after node: address, what it is, what it will be. Empty for none. */
export function changeLines(changes: readonly Change[], page: Page): readonly string[] {
  if (changes.length === 0) return [];
  const nodes = [...new Set(changes.map(({ node }) => node))];
  const title = `Changes (${changes.length} on ${counted(nodes.length, 'node')})`;
  const rows = nodes.flatMap((node) => {
    const own = changes.filter((change) => change.node === node);
    return page.columns < narrow ? narrowRows(node, own, page) : wideRows(node, own, columnsFor(changes, page));
  });
  return [page.paint('strong', title), ...rows];
}

interface Columns {
  readonly node: number;
  readonly address: number;
  /** 0 when the values of some change do not fit beside each other. */
  readonly from: number;
  readonly page: number;
}

function columnsFor(changes: readonly Change[], page: Page): Columns {
  const node = widest(changes.map((change) => change.node));
  const address = widest(changes.map((change) => change.resource));
  const from = widest(changes.map((change) => escapeText(change.from)));
  const to = widest(changes.map((change) => escapeText(change.to)));
  const isFit = 2 + node + 3 + address + 3 + from + 4 + to <= page.columns;
  return {
    node,
    address: isFit ? address : Math.min(address, usualAddress),
    from: isFit ? from : 0,
    page: page.columns,
  };
}

function wideRows(node: string, changes: readonly Change[], columns: Columns): readonly string[] {
  return changes.flatMap((change, index) => {
    const name = padEnd(index === 0 ? node : '', columns.node);
    const first = `  ${name}   ${padEnd(change.resource, columns.address)}   `;
    return hang(first, valuesText(change, columns.from), columns.page);
  });
}

function narrowRows(node: string, changes: readonly Change[], page: Page): readonly string[] {
  return [
    `  ${node}`,
    ...changes.flatMap((change) => [
      ...hang('    ', change.resource, page.columns),
      ...hang('      ', valuesText(change, 0), page.columns),
    ]),
  ];
}

const valuesText = ({ from, to }: Change, width: number): string =>
  `${padEnd(escapeText(from), width)} -> ${escapeText(to)}`;
