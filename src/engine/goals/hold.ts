import type { NodeHold } from '../../model/facts/node-records.ts';
import { mapKnown } from '../../model/known.ts';
import type { ScriptCall } from '../../model/node-script.ts';
import { addressed } from '../../model/subject.ts';
import { scriptStep } from '../../rack/build-step.ts';
import { compared } from '../../rack/compare-values.ts';
import { read } from '../../rack/fact.ts';
import type { GoalOf } from '../../rack/goal.ts';
import { holdFact } from '../../rack/hold/hold-fact.ts';
import { type ObservedTarget, type Property, perTarget, type Resource } from '../../rack/resource.ts';
import { ownGoal } from './scope.ts';

/** Leaves out who set the hold and when, so that the same hold again changes nothing. */
const stateOf = (one: Pick<NodeHold, 'reason' | 'until'> | undefined) =>
  one === undefined ? 'none' : { reason: one.reason, until: one.until ?? '' };

const words = (state: ReturnType<typeof stateOf>): string =>
  typeof state === 'string' ? 'not on hold' : `on hold${state.until && ` until ${state.until}`}: ${state.reason}`;

function holdState({ nodes, hold: wanted }: GoalOf<'hold'>): Resource {
  const call: ScriptCall = wanted === undefined ? { name: 'clear-hold', args: {} } : { name: 'set-hold', args: wanted };
  const propertyOf = ({ desired: { name: node }, facts }: ObservedTarget): Property => {
    const observed = mapKnown(read(facts, holdFact), ([found]) => stateOf(found));
    const reason = wanted === undefined ? 'release' : 'hold';
    return { node, ...addressed({ kind: 'hold' }), ...compared(stateOf(wanted), observed, words), reason };
  };
  return {
    kind: 'hold',
    after: ['identity', 'sudo'],
    ...perTarget(
      (_, target) => (nodes.includes(target.desired.name) ? [propertyOf(target)] : []),
      (_fleet, _target, makes) => [scriptStep({ name: 'hold', call, makes, deadlineMs: 30_000 })],
    ),
  };
}

export const hold = ownGoal(holdState);
