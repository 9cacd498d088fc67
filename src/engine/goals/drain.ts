import { everyNode } from '../../desired/layouts.ts';
import { hasTrait } from '../../diagnostics/diagnostic.ts';
import type { NodeName } from '../../model/node.ts';
import { subjectNodes } from '../../model/subject.ts';
import type { Goal } from '../../rack/goal.ts';
import { type DrainView, drainGateways, gatewayNodes } from '../../rack/placement/endpoint/drain.ts';
import { whereTheyRanLast } from '../../rack/placement/state/layouts.ts';
import { areaOf } from '../diagnose/rules.ts';
import { type GoalEntry, ownGoal, preconditions } from './scope.ts';

const own = ownGoal(drainGateways, { before: preconditions, changes: ['transaction', 'gateway'], isBarring: true });

export const drain: GoalEntry<'drain'> = {
  scope: (goal, desired) => ({
    ...own.scope(goal, desired),
    isShown: (one, { asked }) =>
      hasTrait(one, 'unasked-gateway') ||
      (areaOf(one) === 'ssh' && asked.some((node) => subjectNodes(one.subject).includes(node))),
  }),
  fleet: whereTheyRanLast,
  targets: ({ placements }, targets, view) => {
    const withGateway = gatewayNodes(view, placements);
    return targets.filter((node) => withGateway.includes(node));
  },
};

/**
 * The nodes for which a plan failed. A placement can have a gateway on every node of both layouts, and on nodes where
 * an earlier file left one. If a gateway was not drained or not observed, the goal fails for all nodes of its
 * placement, because the next batch can consist of only those nodes.
 */
export function withUndrained(
  failed: readonly NodeName[],
  goal: Goal,
  { observed, ...view }: DrainView & { readonly observed: object },
): readonly NodeName[] {
  if (goal.kind !== 'drain') return failed;
  const isUndrained = (node: NodeName): boolean => failed.includes(node) || !Object.hasOwn(observed, node);
  const undrained = view.desired.placements.filter(
    ({ name }) => goal.placements.includes(name) && gatewayNodes(view, [name]).some(isUndrained),
  );
  return [...new Set([...failed, ...undrained.flatMap(everyNode)])];
}
