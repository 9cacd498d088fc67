import { columnsOf } from '../../diagnostics/cells.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { proseText, type Reader } from '../../diagnostics/prose-text.ts';
import type { Plan, Waiting } from '../../engine/plan/plan.ts';
import type { ReportDocument } from '../../model/documents.generated.ts';
import { alike } from '../../model/lists.ts';
import { prose } from '../../model/text/prose.ts';
import { type Blocker, propertyKey } from '../../rack/resource.ts';
import { hangLines } from '../findings.ts';
import { nodesText } from '../nodes-text.ts';
import { hang, isNarrow, type Page, padEnd, titleLines } from '../page.ts';

/** The parts of a plan that show the remaining work. */
export type Pending = Pick<Plan, 'changes' | 'waiting' | 'blockers'>;

/** A plan's changes, waiting changes and blockers, without its steps. */
export const pendingJson = (
  { changes, waiting, blockers }: Pending,
  reader: Reader,
): NonNullable<ReportDocument['remaining']> => ({
  changes: changes.map(({ id: _, about: __, ...change }) => change),
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

type WaitingPlan = Pick<Plan, 'waiting' | 'blockers'>;

/** Replaces a blocker such as `rdma/disabled on studio-3` with its number in the list. */
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

/** The waiting changes with their reasons; listed blockers appear as numbers. */
export function waitingLines(plan: WaitingPlan, page: Page): readonly string[] {
  if (plan.waiting.length === 0) return [];
  const all = plan.waiting.map((one) => ({ ...one, why: waitedFor(plan, one) }));
  const width = Math.max(...all.map(({ resource }) => resource.length));
  const lines = alike(all, ({ resource, why }) => `${resource}\n${why}`).flatMap(([{ resource, why }, same]) => {
    const nodes = nodesText(same.map(({ node }) => node));
    return hang(`  ${resource.padEnd(width)}   `, escapeText(`on ${nodes}: ${why}`), page.columns);
  });
  return [page.paint('strong', `Waiting (${plan.waiting.length})`), ...lines];
}

/** What clears a blocker: a manual step, the next apply, or the command that it names. */
type Clearing = 'hands' | 'apply' | 'other';

/** In the order of the list. */
const clearings: readonly (readonly [of: Clearing, title: string, remark: string])[] = [
  ['hands', 'Manual steps at the rack', 'apply does everything else'],
  ['apply', 'Run apply first', ''],
  ['other', 'Not done by apply', ''],
];

function clearingOf({ code, isHands }: Pick<Blocker, 'code' | 'isHands'>): Clearing {
  if (isHands) return 'hands';
  return code === 'plan/not-converged' ? 'apply' : 'other';
}

/** The run result that these blockers lead to; undefined without blockers. */
export function neededFor(
  blockers: readonly Pick<Blocker, 'code' | 'isHands'>[],
): 'hands needed' | 'apply needed' | 'blocked' | undefined {
  const all = new Set(blockers.map(clearingOf));
  if (all.size === 0) return undefined;
  if (all.has('hands')) return 'hands needed';
  return all.has('other') ? 'blocked' : 'apply needed';
}

/** Numbers the blockers: manual steps first, then those that apply clears, then the others. */
function numberedBlockers(blockers: readonly Blocker[]): readonly (readonly [number, Blocker])[] {
  const sorted = clearings.flatMap(([of]) => blockers.filter((one) => clearingOf(one) === of));
  return sorted.map((blocker, index) => [index + 1, blocker]);
}

/** Numbered blockers under three titles: manual steps, those that apply clears, and those that it does not clear. */
export function blockerBlocks(blockers: readonly Blocker[], page: Page): readonly (readonly string[])[] {
  const numbered = numberedBlockers(blockers);
  const width = Math.max(0, ...numbered.map(([, { node }]) => columnsOf(node)));
  const block = (of: Clearing, title: string, remark: string): readonly string[] => {
    const own = numbered.filter(([, blocker]) => clearingOf(blocker) === of);
    if (own.length === 0) return [];
    return [
      ...titleLines([`${title} (${own.length})`], remark, page),
      ...own.flatMap(([number, { node, action }]) => {
        const head = `  ${String(number).padStart(String(numbered.length).length)}  `;
        const first = isNarrow(page) ? head : `${head}${padEnd(node, width)}   `;
        return hangLines(first, isNarrow(page) ? prose`${node}: ${action}` : action, page);
      }),
    ];
  };
  return clearings.map(([of, title, remark]) => block(of, title, remark)).filter((lines) => lines.length > 0);
}
