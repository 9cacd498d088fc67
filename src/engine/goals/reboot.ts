import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { mapKnown } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import { type Step, stepId } from '../../model/step.ts';
import { addressed, nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { bootSessionFact } from '../../rack/boot/fact.ts';
import { read, readValue } from '../../rack/fact.ts';
import { filevaultFact } from '../../rack/filevault/fact.ts';
import type { GoalOf } from '../../rack/goal.ts';
import { whereTheyRanLast } from '../../rack/placement/state/layouts.ts';
import { toComeBack } from '../../rack/placement/state/placement-properties.ts';
import {
  type Blocker,
  blocker,
  nodesOf,
  type ObservedTarget,
  type Property,
  propertyKey,
  type Resource,
  type View,
} from '../../rack/resource.ts';
import { resources } from '../resources.ts';
import { always, type GoalEntry, withState } from './scope.ts';

type Restart = GoalOf<'reboot' | 'shutdown'>;

/** Longer than the slowest Mac needs to shut down, run its firmware and boot. */
const restartDeadlineMs = 1_200_000;

const own = addressed({ kind: 'boot-session' });

const targetsOf = (goal: Restart, { targets }: View): readonly ObservedTarget[] =>
  targets.filter(({ desired: { name } }) => goal.nodes.includes(name));

function propertyOf(goal: Restart, { desired: { name: node }, facts }: ObservedTarget): Property {
  return {
    node,
    ...own,
    // The ID of the next boot session is not known in advance; any different ID proves the restart.
    kind: 'change',
    desired: null,
    observed: mapKnown(read(facts, bootSessionFact), ({ uuid }) => uuid),
    from: 'up',
    to: goal.kind === 'reboot' ? 'up in a new boot session' : 'off',
    reason: goal.kind,
    // Only these kinds block a restart. Kinds that only a start needs do not.
    after: ['identity', 'sudo', 'placement'],
  };
}

/** If its boot session is unknown, a Mac could be restarted twice, because the first restart would not be detected. */
const unknownSession = ({ desired: { name: node } }: ObservedTarget): Blocker =>
  blocker({
    code: 'reboot/session-unknown',
    node,
    resource: 'boot-session',
    action: prose`Find out why the boot session of ${node} is unknown: ${meshwright('facts', node)}`,
  });

function restartStep(goal: Restart, { desired: { name: node }, facts }: ObservedTarget): Step {
  return {
    id: stepId(`${node}/${goal.kind}`),
    node,
    resource: 'boot-session',
    class: 'once',
    act: {
      kind: 'reboot',
      to: goal.kind === 'reboot' ? 'up' : 'off',
      from: mapKnown(read(facts, bootSessionFact), ({ uuid }) => uuid),
    },
    effect: { kind: goal.kind },
    changes: [propertyKey({ node, ...own })],
    needs: [],
    peers: [],
    establishes: [],
    deadlineMs: restartDeadlineMs,
  };
}

/** Only for Macs with FileVault known to be on; most other Macs come back without help. */
const endsAtFileVault = ({ desired: { name: node } }: ObservedTarget): Diagnostic =>
  diagnose('reboot/ends-at-filevault', {
    subject: nodeSubject(node),
    detail: 'FileVault is on, so the Mac waits for its password after the restart.',
    hint: prose`Have the password ready. After the restart: ${meshwright('unlock', node)}`,
  });

/** Restarts or switches off each Mac at most once in its observed boot session. */
const restarts = (goal: Restart): Resource => ({
  kind: 'boot-session',
  after: ['identity', 'sudo', 'placement'],
  properties: (view) => targetsOf(goal, view).map((target) => propertyOf(goal, target)),
  steps: (changes, view) => ({
    steps: targetsOf(goal, view)
      .filter(({ desired: { name: node } }) => changes.some(({ id }) => id === propertyKey({ node, ...own })))
      .map((target) => restartStep(goal, target)),
  }),
  blockers: (view) =>
    targetsOf(goal, view)
      .filter(({ facts }) => read(facts, bootSessionFact).kind === 'unknown')
      .map(unknownSession),
  notices: (view) =>
    goal.kind === 'reboot'
      ? targetsOf(goal, view)
          .filter(({ facts }) => readValue(facts, filevaultFact) === 'on')
          .map(endsAtFileVault)
      : [],
});

/** All placements on these Macs, with their other nodes, and the restart itself. */
export const reboot: GoalEntry<Restart['kind']> = {
  scope: (goal, desired) => {
    const isOurs = (nodes: readonly NodeName[]): boolean => nodes.some((node) => goal.nodes.includes(node));
    const isShared = ({ about: { placement, part } }: Property): boolean =>
      part === 'rank' && desired.placements.some(({ name, nodes }) => name === placement && isOurs(nodes));
    return {
      desired: withState(desired, 'stopped', ({ nodes }) => isOurs(nodes)),
      resources: [...resources, restarts(goal)],
      barring: [...always, ...(goal.back === undefined ? [] : toComeBack), 'placement', 'boot-session'],
      mayChange: (kind, property) =>
        kind === 'boot-session' ||
        kind === 'transaction' ||
        (kind === 'placement' &&
          property.about.placement !== undefined &&
          (isOurs(nodesOf(property)) || isShared(property))),
    };
  },
  fleet: whereTheyRanLast,
};
