import { prose } from '../../model/text/prose.ts';
import { read } from '../fact.ts';
import { type Blocker, blocker, type ObservedTarget, type Resource, type View, verifyOnly } from '../resource.ts';
import { holdFact } from './hold-fact.ts';
import { holdsOf, releaseText } from './reading.ts';

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
