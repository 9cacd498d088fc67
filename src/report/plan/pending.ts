import { columnsOf } from '../../diagnostics/cells.ts';
import { hasTrait } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { proseText, type Reader } from '../../diagnostics/prose-text.ts';
import { entryOf } from '../../engine/diagnose/rules.ts';
import type { Plan, Waiting } from '../../engine/plan/plan.ts';
import type { ReportDocument } from '../../model/documents.generated.ts';
import { alike, listText } from '../../model/lists.ts';
import { everyNodeText } from '../../model/node.ts';
import { mapNames, type Prose, prose } from '../../model/text/prose.ts';
import { type Blocker, propertyKey } from '../../rack/resource.ts';
import { hangLines } from '../findings.ts';
import { nodesText } from '../nodes-text.ts';
import { hang, isNarrow, type Page, padEnd, titleLines } from '../page.ts';

export type Pending = Pick<Plan, 'changes' | 'waiting' | 'blockers'>;

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

/** `step 3`, `steps 1 and 3`, `steps 1 to 4` */
function stepsText(numbers: readonly number[]): string {
  const [first = 0] = numbers;
  const last = numbers.at(-1) ?? first;
  if (numbers.length === 1) return `step ${first}`;
  const isRun = numbers.length > 2 && last - first === numbers.length - 1;
  return `steps ${isRun ? `${first} to ${last}` : listText(numbers.map(String))}`;
}

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
  return [...(numbers.length === 0 ? [] : [`waits for ${stepsText(numbers)}`]), ...new Set(others)].join('; ');
}

/** The waiting changes with their reasons; listed blockers appear as numbers. */
export function waitingLines(plan: WaitingPlan, page: Page): readonly string[] {
  if (plan.waiting.length === 0) return [];
  const all = plan.waiting.map((one) => ({ ...one, why: waitedFor(plan, one) }));
  const width = Math.max(...all.map(({ resource }) => resource.length));
  const lines = alike(all, ({ resource, why }) => `${resource}\n${why}`).flatMap(([{ resource, why }, same]) => {
    const nodes = nodesText(same.map(({ node }) => node));
    const reason = escapeText(`on ${nodes}: ${why}`);
    if (isNarrow(page)) return [...hang('  ', resource, page.columns), ...hang('    ', reason, page.columns)];
    return hang(`  ${resource.padEnd(width)}   `, reason, page.columns);
  });
  return [page.paint('strong', `Waiting (${plan.waiting.length})`), ...lines];
}

/** Clears a blocker: a manual step, the next apply, or the command in the blocker's action. */
type Clearing = 'hands' | 'apply' | 'other';

/** In list order. */
const clearings: readonly (readonly [of: Clearing, title: string, remark: string])[] = [
  ['hands', 'Manual steps at the rack', 'apply does everything else'],
  ['apply', 'Run apply first', ''],
  ['other', 'Do this first', 'apply cannot do it'],
];

function clearingOf({ code, isHands }: Pick<Blocker, 'code' | 'isHands'>): Clearing {
  if (isHands) return 'hands';
  return hasTrait(entryOf(code), 'apply-first') ? 'apply' : 'other';
}

/** The run result that these blockers cause; undefined without blockers. */
export function neededFor(
  blockers: readonly Pick<Blocker, 'code' | 'isHands'>[],
): 'hands needed' | 'apply needed' | 'blocked' | undefined {
  const all = new Set(blockers.map(clearingOf));
  if (all.size === 0) return undefined;
  if (all.has('hands')) return 'hands needed';
  return all.has('other') ? 'blocked' : 'apply needed';
}

const actionFor = ({ node, action }: Blocker, names: readonly string[]): Prose =>
  mapNames(action, (name) => (name === node ? names : [name]));

const equalBlockers = (blockers: readonly Blocker[], of: Clearing): readonly (readonly Blocker[])[] =>
  alike(
    blockers.filter((one) => clearingOf(one) === of),
    (one) => JSON.stringify(actionFor(one, [''])),
  ).map(([, same]) => same);

/** Numbers the blockers: first those with manual steps, then those that apply clears, then all others. */
function numberedBlockers(blockers: readonly Blocker[]): readonly (readonly [number, Blocker])[] {
  const sorted = clearings.flatMap(([of]) => equalBlockers(blockers, of).flat());
  return sorted.map((blocker, index) => [index + 1, blocker]);
}

/** Numbered blockers, equal ones once, under three titles: manual steps, those that apply clears, and those that it does not clear. */
export function blockerBlocks(blockers: readonly Blocker[], page: Page): readonly (readonly string[])[] {
  let count = 0;
  const rows = clearings.flatMap(([of]) =>
    equalBlockers(blockers, of).map((same) => {
      const first = count + 1;
      count += same.length;
      const names = [...new Set(same.map(({ node }) => node))];
      const number = same.length === 1 ? `${first}` : `${first}-${count}`;
      return { of, number, nodes: everyNodeText(names), actions: same.slice(0, 1).map((one) => actionFor(one, names)) };
    }),
  );
  const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(columnsOf));
  const numberWidth = widest(rows.map(({ number }) => number));
  const width = widest(rows.map(({ nodes }) => nodes));
  const block = (of: Clearing, title: string, remark: string): readonly string[] => {
    const { length } = blockers.filter((one) => clearingOf(one) === of);
    if (length === 0) return [];
    return [
      ...titleLines([`${title} (${length})`], remark, page),
      ...rows.flatMap(({ number, nodes, actions, ...row }) => {
        if (row.of !== of) return [];
        const head = `  ${number.padStart(numberWidth)}  `;
        const first = isNarrow(page) ? head : `${head}${padEnd(nodes, width)}   `;
        return actions.flatMap((action) =>
          hangLines(first, isNarrow(page) ? prose`${nodes}: ${action}` : action, page),
        );
      }),
    ];
  };
  return clearings.map(([of, title, remark]) => block(of, title, remark)).filter((lines) => lines.length > 0);
}
