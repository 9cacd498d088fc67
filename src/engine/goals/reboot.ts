import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { UnlockReadiness } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { mapKnown } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import { secretSourceText } from '../../model/secret.ts';
import { type Step, stepId } from '../../model/step.ts';
import { addressed, nodeSubject } from '../../model/subject.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { bootSessionFact } from '../../rack/boot/fact.ts';
import { read, readValue } from '../../rack/fact.ts';
import { filevaultFact } from '../../rack/filevault/fact.ts';
import type { GoalOf, MacosInstalls } from '../../rack/goal.ts';
import { runningUpdate } from '../../rack/macos/update-reading.ts';
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

/** Longer than the slowest Mac needs to prepare and install an update; 12 minutes were measured, 60 are planned for. */
const updateDeadlineMs = 10_800_000;

const own = addressed({ kind: 'boot-session' });

const installsOf = (goal: Restart): MacosInstalls | undefined => (goal.kind === 'reboot' ? goal.install : undefined);

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
    to: goal.kind === 'shutdown' ? 'off' : `up in a new boot session${goal.install ? ` with ${goal.install.to}` : ''}`,
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

const authorizeDeadlineMs = 60_000;

/** Comes before the stops on the Mac's placements, so that a wrong password stops nothing. */
const authorizeStep = (target: ObservedTarget, view: View): Step => ({
  id: stepId(`${target.desired.name}/authorize-restart`),
  node: target.desired.name,
  // Every stop waits for steps of this kind on its nodes.
  resource: 'sudo',
  class: 'converge',
  act: {
    kind: 'script',
    name: 'authorize-restart',
    args: readinessOf(target, view) === 'ready' ? { unlocksLater: true } : {},
  },
  effect: { kind: 'none' },
  changes: [],
  needs: [],
  peers: [],
  establishes: [],
  deadlineMs: authorizeDeadlineMs,
});

function restartStep(goal: Restart, target: ObservedTarget, view: View): Step {
  const { name: node } = target.desired;
  const { facts } = target;
  const isAlone = !isAuthorized(goal, target, view) && readinessOf(target, view) !== 'ready';
  const staysLocked = lockOf(goal, target) !== undefined && isAlone;
  return {
    id: stepId(`${node}/${goal.kind}`),
    node,
    resource: 'boot-session',
    class: 'once',
    act: {
      kind: 'reboot',
      to: goal.kind === 'reboot' ? 'up' : 'off',
      from: mapKnown(read(facts, bootSessionFact), ({ uuid }) => uuid),
      ...given({ install: installsOf(goal)?.on[node] }),
    },
    effect: { kind: staysLocked ? 'locked-reboot' : goal.kind },
    changes: [propertyKey({ node, ...own })],
    needs: [],
    peers: [],
    establishes: [],
    deadlineMs: installsOf(goal) === undefined ? restartDeadlineMs : updateDeadlineMs,
  };
}

/** A restart would break the update. */
const updating = ({ desired: { name: node } }: ObservedTarget): Blocker =>
  blocker({
    code: 'macos/updating',
    node,
    resource: 'boot-session',
    action: prose`Wait until ${node} has installed its macOS update. To follow it: ${meshwright('upgrade macos', '--all')}`,
  });

/** Why a Mac waits for its password after this restart; if FileVault is unknown, the Mac probably does not. */
function lockOf(goal: Restart, { facts }: ObservedTarget): string | undefined {
  const seen = readValue(facts, filevaultFact);
  if (goal.kind !== 'reboot' || seen === undefined || seen === 'off') return undefined;
  return seen === 'on' ? 'FileVault is on' : 'FileVault is being switched on or off';
}

/**
 * True if this run has the password with which macOS can be restarted past FileVault. It is not known whether macOS
 * accepts the password while it switches FileVault on or off, nor for the restarts of an update.
 */
const isAuthorized = (goal: Restart, target: ObservedTarget, view: View): boolean =>
  goal.kind === 'reboot' &&
  goal.install === undefined &&
  readValue(target.facts, filevaultFact) === 'on' &&
  ['ready', 'no-key', 'this-computer'].includes(readinessOf(target, view));

const readinessOf = ({ desired: { name } }: ObservedTarget, { desired: { unlocks = {} } }: View): UnlockReadiness =>
  unlocks[name] ?? 'no-password';

const unlockHints: Readonly<Record<Exclude<UnlockReadiness, 'ready'>, (node: string, source: string) => Prose>> = {
  'no-source': () =>
    'So that meshwright can unlock it, add the source of its password to the file: ssh: { password: { env: MESH_PASSWORD } }.',
  'no-password': (_, source) => prose`Find out why there is no password from ${source}: ${meshwright('secrets')}.`,
  'no-key': (node) =>
    prose`The key that it shows at FileVault is not pinned yet. The first ${aside(meshwright('unlock', node))} pins it.`,
  'this-computer': () => 'This computer cannot unlock itself: run the command from another one.',
  refused: (_, source) => `It refused the last password. Correct ${source}.`,
};

function endsAtFileVault(goal: Restart, lock: string, target: ObservedTarget, view: View): Diagnostic {
  const { name: node, password } = target.desired;
  const readiness = readinessOf(target, view);
  const source = password === undefined ? 'its source' : secretSourceText(password);
  const about = { subject: nodeSubject(node) };
  if (isAuthorized(goal, target, view)) {
    const later = readiness === 'ready' ? ' If the Mac cannot do that, meshwright unlocks it after the restart.' : '';
    const detail = `${lock}. Before the restart, macOS gets the password from ${source}, and then starts without asking for it.${later}`;
    return diagnose('reboot/ends-at-filevault', { ...about, severity: 'notice', detail, hint: 'Nothing to do.' });
  }
  if (readiness === 'ready') {
    const detail = `${lock}. After the restart, meshwright unlocks the Mac with the password from ${source}.`;
    return diagnose('reboot/ends-at-filevault', { ...about, severity: 'notice', detail, hint: 'Nothing to do.' });
  }
  return diagnose('reboot/ends-at-filevault', {
    ...about,
    detail: `${lock}, and this run cannot unlock the Mac, so it stays locked after the restart.`,
    hint: prose`${unlockHints[readiness](node, source)} Or unlock it after the restart: ${meshwright('unlock', node)}`,
  });
}

/** Restarts or switches off each Mac at most once in its observed boot session. */
const restarts = (goal: Restart): Resource => ({
  kind: 'boot-session',
  after: ['identity', 'sudo', 'placement'],
  properties: (view) => targetsOf(goal, view).map((target) => propertyOf(goal, target)),
  steps: (changes, view) => ({
    steps: targetsOf(goal, view)
      .filter(({ desired: { name: node } }) => changes.some(({ id }) => id === propertyKey({ node, ...own })))
      .flatMap((target) => [
        ...(isAuthorized(goal, target, view) ? [authorizeStep(target, view)] : []),
        restartStep(goal, target, view),
      ]),
  }),
  blockers: (view) => [
    ...targetsOf(goal, view)
      .filter(({ facts }) => read(facts, bootSessionFact).kind === 'unknown')
      .map(unknownSession),
    ...targetsOf(goal, view)
      .filter(({ facts }) => installsOf(goal) === undefined && runningUpdate(facts) !== undefined)
      .map(updating),
  ],
  notices: (view) =>
    targetsOf(goal, view).flatMap((target) => {
      const lock = lockOf(goal, target);
      return lock === undefined ? [] : endsAtFileVault(goal, lock, target, view);
    }),
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
