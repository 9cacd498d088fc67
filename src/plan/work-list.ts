import { compareText } from '../resources/compare-text.ts';
import { propertyKey } from '../resources/property-key.ts';
import type { Blocker } from '../resources/resource.ts';
import type { Assessed } from './assess.ts';
import type { Goal } from './goal.ts';
import type { Waiting } from './plan.ts';
import { byNode, byResource } from './resource-order.ts';
import type { Held } from './sift.ts';

/** A goal that is not the whole file speaks only of what stands in its way; sudo is missed only where it is needed. */
const isListed = (goal: Goal, { blocks, code, resource }: Blocker): boolean =>
  blocks.length > 0 || code === 'reboot/session-unknown' || (goal.kind === 'converge' && resource !== 'sudo');

/** The blockers with all that they keep waiting, in the order in which they should be cleared. */
export function workList(goal: Goal, assessed: readonly Assessed[], held: readonly Held[]): readonly Blocker[] {
  return assessed
    .flatMap((one) => one.blockers)
    .map((blocker): Blocker => {
      const own = held.filter(({ reasons }) => reasons.some((reason) => reason.blocker === blocker));
      return { ...blocker, blocks: own.map(({ property }) => propertyKey(property)).toSorted(compareText) };
    })
    .filter((blocker) => isListed(goal, blocker))
    .toSorted((a, b) => byResource(a, b) || compareText(a.code, b.code) || compareText(a.action, b.action));
}

/** What is unknown by itself, whether or not anything has to wait for it. */
function openWaiting(goal: Goal, assessed: readonly Assessed[]): readonly Waiting[] {
  const gaps = goal.kind === 'converge' ? assessed.flatMap((one) => one.gaps) : [];
  return gaps
    .filter(({ resource }) => resource !== 'sudo')
    .map(({ node, resource, text }) => ({ resource, node, for: [`${text} is unknown`], isUnknown: true }));
}

/** Everything that cannot be brought to its desired state now, with its reasons. */
export function waitingAll(goal: Goal, assessed: readonly Assessed[], held: readonly Held[]): readonly Waiting[] {
  const waiting = held.map(
    ({ property: { address, node }, reasons }): Waiting => ({
      resource: address,
      node,
      for: reasons.map(({ text }) => text),
      isUnknown: reasons.some(({ isUnknown }) => isUnknown),
    }),
  );
  return [...openWaiting(goal, assessed), ...waiting].toSorted(byNode);
}
