import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet, DesiredPlacement } from '../../model/desired.ts';
import { mapKnown } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import { type Step, stepId } from '../../model/step.ts';
import { addressed, nodeSubject, subjectNodes } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { sudo } from '../../rack/access/resource.ts';
import { bootSessionFact } from '../../rack/boot/fact.ts';
import { read, readValue } from '../../rack/fact.ts';
import { filevaultFact } from '../../rack/filevault/fact.ts';
import { keepHold } from '../../rack/hold/resource.ts';
import { identity } from '../../rack/identity/resource.ts';
import { drainDoors } from '../../rack/placement/endpoint/drain.ts';
import { toComeBack } from '../../rack/placement/state/placement-properties.ts';
import {
  type Blocker,
  nodesOf,
  type ObservedTarget,
  type Property,
  propertyKey,
  type Resource,
  type View,
} from '../../rack/resource.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import { uninstall } from '../../rack/uninstall/resource.ts';
import { resources } from '../plan/resources.ts';
import type { Goal } from './goal.ts';

/** The goals that end a boot session. */
type RestartGoal = Extract<Goal, { kind: 'reboot' | 'shutdown' }>;

type PlacementGoal = Extract<Goal, { kind: 'stop' | 'start' }>;

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
const restarts = (goal: RestartGoal): Resource => ({
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

/** What a goal makes of the file and of the registry. */
export interface Scope {
  /** The file with the states that the goal overrides. */
  readonly desired: DesiredFleet;
  /** Those of the registry, and what only this goal changes. */
  readonly resources: readonly Resource[];
  /** Kinds whose blockers and unknowns count. */
  readonly barring: readonly ResourceKind[];
  /** Whether this property of this kind may be changed. */
  readonly isMeant: (kind: ResourceKind, property: Property) => boolean;
  /** Whether this is worth telling beside the plan; everything where absent. */
  readonly isTold?: (finding: Diagnostic, view: View) => boolean;
}

const preconditions = resources.filter(({ isPrecondition }) => isPrecondition);
const always: readonly ResourceKind[] = preconditions.map(({ kind }) => kind);
const allKinds = (): readonly ResourceKind[] => resources.map(({ kind }) => kind);

function withState(
  desired: DesiredFleet,
  state: DesiredPlacement['state'],
  isMeant: (placement: DesiredPlacement) => boolean,
): DesiredFleet {
  const stateOf = (one: DesiredPlacement): DesiredPlacement => ({
    ...one,
    state,
    ...(state === 'stopped' && one.state === 'serving' ? { lingersOn: one.nodes } : {}),
    ...(one.home === undefined ? {} : { home: { ...one.home, state } }),
  });
  return { ...desired, placements: desired.placements.map((one) => (isMeant(one) ? stateOf(one) : one)) };
}

/** Whether a property is the door of one of these placements. */
const isDoorOf = ({ about: { part, placement = '' } }: Property, placements: readonly string[]): boolean =>
  part === 'door' && placements.includes(placement);

/** A placement may be named for nodes of its fallback, and run elsewhere. */
const meantNames = ({ placements: named, near }: PlacementGoal, { placements }: DesiredFleet): readonly string[] =>
  placements
    .filter(
      ({ name, nodes }) => named.includes(name) && (near === undefined || nodes.some((node) => near.includes(node))),
    )
    .map(({ name }) => name);

function placementScope(goal: PlacementGoal, desired: DesiredFleet): Scope {
  const names = meantNames(goal, desired);
  return {
    desired: withState(desired, goal.kind === 'stop' ? 'stopped' : 'serving', ({ name }) => names.includes(name)),
    resources,
    barring: goal.kind === 'stop' && goal.back === undefined ? [...always, 'placement'] : allKinds(),
    isMeant: (kind, property) =>
      kind === 'rollback' ||
      (kind === 'placement' && names.includes(property.about.placement ?? '')) ||
      (goal.kind === 'start' && isDoorOf(property, names)),
  };
}

/** Of Macs that go down: their placements, what is shared of them with other Macs, and the restart itself. */
function restartScope(goal: RestartGoal, desired: DesiredFleet): Scope {
  const isOurs = (nodes: readonly NodeName[]): boolean => nodes.some((node) => goal.nodes.includes(node));
  const isShared = ({ about: { placement, part } }: Property): boolean =>
    part === 'rank' && desired.placements.some(({ name, nodes }) => name === placement && isOurs(nodes));
  return {
    desired: withState(desired, 'stopped', ({ nodes }) => isOurs(nodes)),
    resources: [...resources, restarts(goal)],
    barring: [...always, ...(goal.back === undefined ? [] : toComeBack), 'placement', 'boot-session'],
    isMeant: (kind, property) =>
      kind === 'boot-session' ||
      kind === 'rollback' ||
      (kind === 'placement' &&
        property.about.placement !== undefined &&
        (isOurs(nodesOf(property)) || isShared(property))),
  };
}

/** What an uninstallation is about, on its nodes alone: what was set up last goes first. */
function uninstallResources(goal: Extract<Goal, { kind: 'uninstall' }>): readonly Resource[] {
  const changed = (one: Resource): Resource => ({ ...one, ...one.onUninstall?.(goal) });
  const gone = resources.filter(({ isPrecondition, onUninstall }) => isPrecondition === undefined && onUninstall);
  return [...preconditions.map(changed), ...gone.toReversed().map(changed), uninstall(goal)];
}

/** Which part of the fleet a goal is about. */
export function scopeOf(goal: Goal, desired: DesiredFleet): Scope {
  switch (goal.kind) {
    case 'converge': {
      const kinds = goal.only ?? allKinds();
      const names = desired.placements.map(({ name }) => name);
      return {
        desired,
        resources,
        // A placement is not stopped for a start that any kind of resource keeps waiting.
        barring: kinds.includes('placement') ? allKinds() : [...always, ...kinds],
        // A door belongs to its placement: who was cut off between the two finishes both.
        isMeant: (kind, property) =>
          kind === 'rollback' || kinds.includes(kind) || (kinds.includes('placement') && isDoorOf(property, names)),
      };
    }
    case 'stop':
    case 'start':
      return placementScope(goal, desired);
    case 'drain':
      return {
        desired,
        resources: [...preconditions, drainDoors(goal)],
        barring: [...always, 'doorman'],
        isMeant: (kind) => kind === 'rollback' || kind === 'doorman',
        isTold: ({ code, subject }, { asked }) =>
          code === 'endpoint/door-not-asked' ||
          (code.startsWith('ssh/') && asked.some((node) => subjectNodes(subject).includes(node))),
      };
    case 'hold':
      return {
        desired,
        resources: [identity, sudo, keepHold(goal)],
        barring: ['identity', 'sudo'],
        isMeant: (kind) => kind === 'hold',
        isTold: ({ code }) => code.startsWith('ssh/'),
      };
    case 'uninstall': {
      const left = uninstallResources(goal);
      return {
        desired,
        resources: left,
        barring: left.map(({ kind }) => kind),
        isMeant: (kind) => kind !== 'identity' && kind !== 'sudo',
        isTold: ({ code }) => code.startsWith('ssh/') || code.startsWith('uninstall/'),
      };
    }
    case 'reboot':
    case 'shutdown':
      return restartScope(goal, desired);
  }
}
