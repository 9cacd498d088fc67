import type { NodeHold } from '../../model/facts/node-records.ts';
import { type Known, mapKnown } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import type { Step } from '../../model/step.ts';
import { addressed } from '../../model/subject.ts';
import { prose } from '../../model/text/prose.ts';
import { scriptStep } from '../build-step.ts';
import { read } from '../fact.ts';
import {
  type Blocker,
  changedProperties,
  type ObservedTarget,
  type Property,
  type Resource,
  type View,
  verifyOnly,
} from '../resource.ts';
import { knownWords } from '../seen-fact.ts';
import { holdFact } from './hold-fact.ts';
import { holdsOf, releaseText } from './node-holds.ts';

/** What is to stand on some nodes: that they are held, or without `hold` that they are not. */
export interface HoldWish {
  readonly nodes: readonly NodeName[];
  readonly hold?: Omit<NodeHold, 'isOver'>;
}

function blockersOf({ observation }: View, desired: ObservedTarget['desired']): readonly Blocker[] {
  const { name: node } = desired;
  return holdsOf(desired, observation.nodes[node]?.facts)
    .filter(({ isOver }) => !isOver)
    .map((held) => ({
      code: 'hold/held',
      node,
      resource: 'hold',
      action: prose`${node} is held (${held.reason}). When it may be changed again: ${releaseText(node, held)}`,
      isHands: false,
      peers: [],
      blocks: [],
    }));
}

/** Nodes that are to be left alone. It has no properties: it keeps those of all others waiting. */
export const hold: Resource = verifyOnly({
  kind: 'hold',
  after: [],
  isPrecondition: true,
  blockers: (view) =>
    view.desired.nodes.filter(({ name }) => view.asked.includes(name)).flatMap((node) => blockersOf(view, node)),
  gap: ({ facts }) => (read(facts, holdFact).kind === 'unknown' ? 'whether it is held' : undefined),
});

const words = ({ reason, until }: Pick<NodeHold, 'reason' | 'until'>): string =>
  `held${until === undefined ? '' : ` until ${until}`}: ${reason}`;

/** Who said so, and when, is no wish: the same hold again changes nothing. */
function propertyOf({ hold: wish }: HoldWish, { desired, facts }: ObservedTarget): Property {
  const observed: Known<{ readonly reason: string; readonly until: string } | 'none'> = mapKnown(
    read(facts, holdFact),
    ([found]) => (found === undefined ? 'none' : { reason: found.reason, until: found.until ?? '' }),
  );
  const from = knownWords(observed, (one) =>
    one === 'none' ? 'not held' : words({ reason: one.reason, ...(one.until === '' ? {} : { until: one.until }) }),
  );
  return {
    node: desired.name,
    ...addressed({ kind: 'hold' }),
    desired: wish === undefined ? 'none' : { reason: wish.reason, until: wish.until ?? '' },
    observed,
    from,
    to: wish === undefined ? 'not held' : words(wish),
    reason: wish === undefined ? 'release' : 'hold',
  };
}

/** The one thing that the verbs `hold` and `release` change. */
export function keepHold(wish: HoldWish): Resource {
  const propertiesOf = ({ targets }: View): readonly Property[] =>
    targets.filter(({ desired }) => wish.nodes.includes(desired.name)).map((target) => propertyOf(wish, target));
  return {
    kind: 'hold',
    after: ['identity', 'sudo'],
    properties: propertiesOf,
    steps: (changes, view) => ({
      steps: changedProperties(changes, propertiesOf(view)).map((made): Step => {
        const call =
          wish.hold === undefined
            ? ({ name: 'clear-hold', args: {} } as const)
            : ({ name: 'set-hold', args: wish.hold } as const);
        return scriptStep({ node: made.node, resource: 'hold', name: 'hold', call, makes: [made], deadlineMs: 30_000 });
      }),
    }),
  };
}
