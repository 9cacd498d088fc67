import { columnsOf } from '../diagnostics/cells.ts';
import type { Blocker } from '../resources/resource.ts';
import { hangLines } from './finding-lines.ts';
import { padEnd } from './layout.ts';
import type { Page } from './page.ts';

const narrow = 60;

/** A title with a remark at the right edge, or below it where there is no room. */
function titleLines(title: string, remark: string, page: Page): readonly string[] {
  const room = page.columns - columnsOf(title) - columnsOf(remark);
  const painted = page.paint('strong', title);
  if (remark === '') return [painted];
  return room >= 3 ? [`${painted}${' '.repeat(room)}${remark}`] : [painted, remark];
}

/** The blockers of a plan with their numbers: hands' work first, else in their own order. */
export function numberedBlockers(blockers: readonly Blocker[]): readonly (readonly [number, Blocker])[] {
  const sorted = [...blockers.filter(({ isHands }) => isHands), ...blockers.filter(({ isHands }) => !isHands)];
  return sorted.map((blocker, index) => [index + 1, blocker]);
}

/** The work list: what only hands can do, and what apply may not do by itself; each one whole, with its number. */
export function blockerBlocks(blockers: readonly Blocker[], page: Page): readonly (readonly string[])[] {
  const numbered = numberedBlockers(blockers);
  const width = Math.max(0, ...numbered.map(([, { node }]) => columnsOf(node)));
  const block = (isHands: boolean, title: string, remark: string): readonly string[] => {
    const own = numbered.filter(([, blocker]) => blocker.isHands === isHands);
    if (own.length === 0) return [];
    return [
      ...titleLines(`${title} (${own.length})`, remark, page),
      ...own.flatMap(([number, { node, action }]) => {
        const head = `  ${String(number).padStart(String(numbered.length).length)}  `;
        const isNarrow = page.columns < narrow;
        const first = isNarrow ? head : `${head}${padEnd(node, width)}   `;
        return hangLines(first, isNarrow ? `${node}: ${action}` : action, page);
      }),
    ];
  };
  return [
    block(true, 'Hands needed at the rack', 'apply stops after its part'),
    block(false, 'Not for apply', ''),
  ].filter((lines) => lines.length > 0);
}
