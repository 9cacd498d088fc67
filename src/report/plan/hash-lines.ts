import { columnsOf } from '../../diagnostics/cells.ts';
import type { HashWork } from '../../engine/plan/hash-works.ts';
import { groupBy } from '../../model/lists.ts';
import { everyNodeText } from '../../model/node.ts';
import { bytesText } from '../../model/text/units.ts';
import { counted, fitLines, hang, type Page, padEnd } from '../page.ts';

/** The copies of models that `apply --verify=full` hashes before it makes its plan; copies alike in one line. */
export function hashLines(works: readonly HashWork[], page: Page): readonly string[] {
  if (works.length === 0)
    return fitLines('Nothing to hash: no node that was reached has a complete copy.', page.columns);
  const textOf = ({ model, files, bytes }: HashWork): string =>
    `model/${model}   ${bytesText(bytes)} in ${counted(files, 'file')}`;
  const rows = [...groupBy(works, textOf)].map(([text, same]) => ({
    text,
    nodes: everyNodeText(same.map(({ node }) => node)),
  }));
  const width = Math.max(...rows.map(({ nodes }) => columnsOf(nodes)));
  return [
    page.paint('strong', `Hash first (${works.length})`),
    ...rows.flatMap(({ nodes, text }) => hang(`  ${padEnd(nodes, width)}   `, text, page.columns)),
    ...hang('  ', 'If a file is wrong, apply fetches it again.', page.columns),
  ];
}
