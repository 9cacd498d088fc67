import { proseText, type Reader } from '../../diagnostics/prose-text.ts';
import type { Plan } from '../../engine/plan/plan.ts';

/** The parts of a plan that say what is left to do. */
export type Pending = Pick<Plan, 'changes' | 'waiting' | 'blockers'>;

/** What is left to do, as programs read it: of a plan only what concerns people and counts. */
export interface PendingJson {
  readonly changes: readonly {
    readonly node: string;
    readonly resource: string;
    readonly from: string;
    readonly to: string;
    readonly reason: string;
  }[];
  readonly waiting: readonly {
    readonly node: string;
    readonly resource: string;
    readonly for: readonly string[];
    readonly unknown: boolean;
  }[];
  readonly blockers: readonly {
    readonly code: string;
    readonly node: string;
    readonly action: string;
    readonly hands: boolean;
  }[];
}

/** Changes, what waits and the work list of a plan, without its steps. */
export const pendingJson = ({ changes, waiting, blockers }: Pending, reader: Reader): PendingJson => ({
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
