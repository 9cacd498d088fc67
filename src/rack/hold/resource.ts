import type { NodeHold } from '../../model/facts/node-records.ts';
import { mapKnown } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import type { ScriptCall } from '../../model/node-script.ts';
import { addressed } from '../../model/subject.ts';
import { prose } from '../../model/text/prose.ts';
import { scriptStep } from '../build-step.ts';
import { read } from '../fact.ts';
import {
  type Blocker,
  blocker,
  type ObservedTarget,
  type Property,
  perTarget,
  type Resource,
  type View,
  verifyOnly,
} from '../resource.ts';
import { compared } from '../seen-fact.ts';
import { holdFact } from './hold-fact.ts';
import { holdsOf, releaseText } from './node-holds.ts';

/** The desired hold on some nodes; if `hold` is absent, the nodes are released. */
export interface HoldWish {
  readonly nodes: readonly NodeName[];
  readonly hold?: Omit<NodeHold, 'isOver'>;
}

function blockersOf({ observation }: View, desired: ObservedTarget['desired']): readonly Blocker[] {
  const { name: node } = desired;
  return holdsOf(desired, observation.nodes[node]?.facts)
    .filter(({ isOver }) => !isOver)
    .map((held) =>
      blocker({
        code: 'hold/held',
        node,
        resource: 'hold',
        action: prose`${node} is on hold (${held.reason}). To end the hold: ${releaseText(node, held)}`,
      }),
    );
}

/** Nodes on hold. This resource has no properties; it makes all other properties of these nodes wait. */
export const hold: Resource = verifyOnly({
  kind: 'hold',
  after: [],
  isPrecondition: true,
  blockers: (view) =>
    view.desired.nodes.filter(({ name }) => view.asked.includes(name)).flatMap((node) => blockersOf(view, node)),
  unobservedText: ({ facts }) => (read(facts, holdFact).kind === 'unknown' ? 'whether it is on hold' : undefined),
});

/** Leaves out who set the hold and when, so that the same hold again changes nothing. */
const stateOf = (one: Pick<NodeHold, 'reason' | 'until'> | undefined) =>
  one === undefined ? 'none' : { reason: one.reason, until: one.until ?? '' };

const words = (state: ReturnType<typeof stateOf>): string =>
  typeof state === 'string' ? 'not on hold' : `on hold${state.until && ` until ${state.until}`}: ${state.reason}`;

/** The resource that the commands `hold` and `release` change. */
export function keepHold(wish: HoldWish): Resource {
  const call: ScriptCall =
    wish.hold === undefined ? { name: 'clear-hold', args: {} } : { name: 'set-hold', args: wish.hold };
  const propertyOf = ({ desired: { name: node }, facts }: ObservedTarget): Property => {
    const observed = mapKnown(read(facts, holdFact), ([found]) => stateOf(found));
    const reason = wish.hold === undefined ? 'release' : 'hold';
    return { node, ...addressed({ kind: 'hold' }), ...compared(stateOf(wish.hold), observed, words), reason };
  };
  return {
    kind: 'hold',
    after: ['identity', 'sudo'],
    ...perTarget(
      (_, target) => (wish.nodes.includes(target.desired.name) ? [propertyOf(target)] : []),
      (_fleet, _target, makes) => [scriptStep({ name: 'hold', call, makes, deadlineMs: 30_000 })],
    ),
  };
}
