import { escapeText } from '../../diagnostics/escape.ts';
import type { Plan, Waiting } from '../../engine/plan/plan.ts';
import { propertyKey } from '../../rack/property-key.ts';
import { hang } from '../layout.ts';
import { nodesText } from '../nodes-text.ts';
import type { Page } from '../page.ts';
import { numberedBlockers } from './blocker-lines.ts';

/** A plan as far as it says what waits. */
type WaitingPlan = Pick<Plan, 'waiting' | 'blockers'>;

/** One resource that waits on some nodes for the same. */
interface WaitingGroup {
  readonly resource: string;
  readonly nodes: readonly string[];
  readonly for: string;
}

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
  const groups = new Map<string, WaitingGroup>();
  for (const one of plan.waiting) {
    const why = waitedFor(plan, one);
    const key = `${one.resource}\n${why}`;
    const nodes = [...(groups.get(key)?.nodes ?? []), one.node];
    groups.set(key, { resource: one.resource, nodes, for: why });
  }
  if (groups.size === 0) return [];
  const width = Math.max(...[...groups.values()].map(({ resource }) => resource.length));
  const lines = [...groups.values()].flatMap((group) =>
    hang(
      `  ${group.resource.padEnd(width)}   `,
      escapeText(`on ${nodesText(group.nodes)}: ${group.for}`),
      page.columns,
    ),
  );
  return [page.paint('strong', `Waiting (${plan.waiting.length})`), ...lines];
}
