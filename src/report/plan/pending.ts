import { columnsOf } from '../../diagnostics/cells.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { proseText, type Reader } from '../../diagnostics/prose-text.ts';
import type { Plan, Waiting } from '../../engine/plan/plan.ts';
import type { ReportDocument } from '../../model/documents.generated.ts';
import { groupBy } from '../../model/lists.ts';
import { prose } from '../../model/text/prose.ts';
import { type Blocker, propertyKey } from '../../rack/resource.ts';
import { hangLines } from '../findings.ts';
import { nodesText } from '../nodes-text.ts';
import { hang, isNarrow, type Page, padEnd } from '../page.ts';

/** The parts of a plan that say what is left to do. */
export type Pending = Pick<Plan, 'changes' | 'waiting' | 'blockers'>;

/** Changes, what waits and the work list of a plan, without its steps. */
export const pendingJson = (
  { changes, waiting, blockers }: Pending,
  reader: Reader,
): NonNullable<ReportDocument['remaining']> => ({
  changes: changes.map(({ node, resource, from, to, reason }) => ({ node, resource, from, to, reason })),
  waiting: waiting.map((one) => ({
    node: one.node,
    resource: one.resource,
    for: one.for.map(({ text }) => text),
    unknown: one.isUnknown,
  })),
  blockers: blockers.map(({ code, node, action, isHands }) => ({
    code,
    node,
    action: proseText(action, reader),
    hands: isHands,
  })),
});

/** A plan as far as it says what waits. */
type WaitingPlan = Pick<Plan, 'waiting' | 'blockers'>;

/** `rdma/disabled on studio-3` as `1`, when the work list has it; else as it is. */
function waitedFor({ blockers }: WaitingPlan, waiting: Waiting): string {
  const numbered = numberedBlockers(blockers);
  const key = propertyKey({ node: waiting.node, address: waiting.resource });
  const words = waiting.for.flatMap(({ text, blocker }): readonly (string | number)[] => {
    const found = numbered.filter(([, { code, node }]) => code === blocker?.code && node === blocker.node);
    const own = found.filter(([, { blocks }]) => blocks.includes(key));
    const numbers = (own.length > 0 ? own : found.slice(0, 1)).map(([number]) => number);
    return numbers.length === 0 ? [text] : numbers;
  });
  const numbers = [...new Set(words.filter((word) => typeof word === 'number'))].toSorted((a, b) => a - b);
  const others = words.filter((word) => typeof word === 'string');
  return [...(numbers.length === 0 ? [] : [`needs ${numbers.join(', ')}`]), ...new Set(others)].join('; ');
}

/** What waits, and for what: by its number, where the work list has it. None where nothing does. */
export function waitingLines(plan: WaitingPlan, page: Page): readonly string[] {
  if (plan.waiting.length === 0) return [];
  const all = plan.waiting.map((one) => ({ ...one, why: waitedFor(plan, one) }));
  const width = Math.max(...all.map(({ resource }) => resource.length));
  const groups = groupBy(all, ({ resource, why }) => `${resource}\n${why}`);
  const lines = [...groups.values()].flatMap((same) => {
    const { resource = '', why = '' } = same[0] ?? {};
    const nodes = nodesText(same.map(({ node }) => node));
    return hang(`  ${resource.padEnd(width)}   `, escapeText(`on ${nodes}: ${why}`), page.columns);
  });
  return [page.paint('strong', `Waiting (${plan.waiting.length})`), ...lines];
}

/** A title with a remark at the right edge, or below it where there is no room. */
function titleLines(title: string, remark: string, page: Page): readonly string[] {
  const room = page.columns - columnsOf(title) - columnsOf(remark);
  const painted = page.paint('strong', title);
  if (remark === '') return [painted];
  return room >= 3 ? [`${painted}${' '.repeat(room)}${remark}`] : [painted, remark];
}

/** Who clears a blocker: hands, the next apply, or whoever else it names. */
type Clearing = 'hands' | 'apply' | 'other';

/** In the order in which a work list has them. */
const clearings: readonly (readonly [of: Clearing, title: string, remark: string])[] = [
  ['hands', 'Hands needed at the rack', 'apply stops after its part'],
  ['apply', 'An apply comes first', ''],
  ['other', 'Not for apply', ''],
];

function clearingOf({ code, isHands }: Pick<Blocker, 'code' | 'isHands'>): Clearing {
  if (isHands) return 'hands';
  return code === 'plan/not-converged' ? 'apply' : 'other';
}

/** What a whole work list needs, in the words of the line that sums a run up; undefined for an empty one. */
export function neededFor(
  blockers: readonly Pick<Blocker, 'code' | 'isHands'>[],
): 'hands needed' | 'apply needed' | 'blocked' | undefined {
  const all = new Set(blockers.map(clearingOf));
  if (all.size === 0) return undefined;
  if (all.has('hands')) return 'hands needed';
  return all.has('other') ? 'blocked' : 'apply needed';
}

/** The blockers of a plan with their numbers: hands' work first, then what apply brings, else in their own order. */
function numberedBlockers(blockers: readonly Blocker[]): readonly (readonly [number, Blocker])[] {
  const sorted = clearings.flatMap(([of]) => blockers.filter((one) => clearingOf(one) === of));
  return sorted.map((blocker, index) => [index + 1, blocker]);
}

/** The work list: what only hands can do, what apply brings, what it may not do by itself; each one whole, with its number. */
export function blockerBlocks(blockers: readonly Blocker[], page: Page): readonly (readonly string[])[] {
  const numbered = numberedBlockers(blockers);
  const width = Math.max(0, ...numbered.map(([, { node }]) => columnsOf(node)));
  const block = (of: Clearing, title: string, remark: string): readonly string[] => {
    const own = numbered.filter(([, blocker]) => clearingOf(blocker) === of);
    if (own.length === 0) return [];
    return [
      ...titleLines(`${title} (${own.length})`, remark, page),
      ...own.flatMap(([number, { node, action }]) => {
        const head = `  ${String(number).padStart(String(numbered.length).length)}  `;
        const first = isNarrow(page) ? head : `${head}${padEnd(node, width)}   `;
        return hangLines(first, isNarrow(page) ? prose`${node}: ${action}` : action, page);
      }),
    ];
  };
  return clearings.map(([of, title, remark]) => block(of, title, remark)).filter((lines) => lines.length > 0);
}
