import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type Step, stepId } from '../../model/step.ts';
import { addressed, nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { bootSessionFact } from '../../rack/boot/boot-session-fact.ts';
import { read } from '../../rack/fact.ts';
import { filevaultFact } from '../../rack/filevault/fact.ts';
import { propertyKey } from '../../rack/property-key.ts';
import type { Blocker, ObservedTarget, Property, Resource, View } from '../../rack/resource.ts';
import { mapKnown } from '../../rack/seen-fact.ts';
import type { Goal } from './goal.ts';

/** The goals that end a boot session. */
export type RestartGoal = Extract<Goal, { kind: 'reboot' | 'shutdown' }>;

/** Longer than the slowest Mac takes that comes back at all: shutting down, firmware, booting. */
const restartDeadlineMs = 1_200_000;

const own = addressed({ kind: 'boot-session' });

const targetsOf = (goal: RestartGoal, { targets }: View): readonly ObservedTarget[] =>
  targets.filter(({ desired: { name } }) => goal.nodes.includes(name));

function propertyOf(goal: RestartGoal, { desired: { name: node }, facts }: ObservedTarget): Property {
  return {
    node,
    ...own,
    // Nobody can know the next one: that it is another one is what the restart is proven by.
    desired: null,
    observed: mapKnown(read(facts, bootSessionFact), ({ uuid }) => uuid),
    from: 'up',
    to: goal.kind === 'reboot' ? 'up in a new boot session' : 'off',
    reason: goal.kind,
    // What only a start needs keeps no Mac from being restarted.
    after: ['identity', 'sudo', 'placement'],
  };
}

/** Without its boot session nobody could tell whether a Mac was restarted already: it would be done twice. */
const unknownSession = ({ desired: { name: node } }: ObservedTarget): Blocker => ({
  code: 'reboot/session-unknown',
  node,
  resource: 'boot-session',
  action: prose`See why the boot session of ${node} is unknown: ${meshwright('facts', node)}`,
  isHands: false,
  peers: [],
  blocks: [],
});

function restartStep(goal: RestartGoal, { desired: { name: node }, facts }: ObservedTarget): Step {
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

/** A Mac of which nobody knows whether FileVault is on is not told of: most come back by themselves. */
const endsAtFileVault = ({ desired: { name: node } }: ObservedTarget): Diagnostic =>
  diagnose('reboot/ends-at-filevault', {
    subject: nodeSubject(node),
    detail: 'FileVault is on: after the restart it waits for its password.',
    hint: prose`Have the password at hand. Afterwards: ${meshwright('unlock', node)}`,
  });

/** Restarts, or switches off, each Mac of the goal at most once in the boot session that was seen. */
export const restarts = (goal: RestartGoal): Resource => ({
  kind: 'boot-session',
  after: ['identity', 'sudo', 'placement'],
  properties: (view) => targetsOf(goal, view).map((target) => propertyOf(goal, target)),
  steps: (changes, view) => ({
    steps: targetsOf(goal, view)
      .filter(({ desired: { name: node } }) => changes.some(({ id }) => id === propertyKey({ node, ...own })))
      .map((target) => restartStep(goal, target)),
    rescues: [],
  }),
  blockers: (view) =>
    targetsOf(goal, view)
      .filter(({ facts }) => read(facts, bootSessionFact).kind === 'unknown')
      .map(unknownSession),
  notices: (view) =>
    goal.kind === 'reboot'
      ? targetsOf(goal, view)
          .filter(({ facts }) => {
            const filevault = read(facts, filevaultFact);
            return filevault.kind === 'known' && filevault.value === 'on';
          })
          .map(endsAtFileVault)
      : [],
});
