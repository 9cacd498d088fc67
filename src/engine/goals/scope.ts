import { everyNode, withFallbacks } from '../../desired/layouts.ts';
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
import type { FleetObservation } from '../../rack/examination.ts';
import { read, readValue } from '../../rack/fact.ts';
import { filevaultFact } from '../../rack/filevault/fact.ts';
import { type HoldWish, keepHold } from '../../rack/hold/resource.ts';
import { identity } from '../../rack/identity/resource.ts';
import { type DoorLook, type DrainWish, doorNodes, drainDoors } from '../../rack/placement/endpoint/drain.ts';
import { whereTheyRanLast, whereTheyRun } from '../../rack/placement/state/layouts.ts';
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
import type { UninstallWish } from '../../rack/uninstall/uninstall-properties.ts';
import type { Plan } from '../plan/plan.ts';
import { resources } from '../plan/resources.ts';

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
  action: prose`Find out why the boot session of ${node} is unknown: ${meshwright('facts', node)}`,
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
    detail: 'FileVault is on, so the Mac waits for its password after the restart.',
    hint: prose`Have the password ready. After the restart: ${meshwright('unlock', node)}`,
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

/** What a plan is to bring about. */
export type Goal =
  /** What the file wants; only resources of these kinds where `only` is there. */
  | { readonly kind: 'converge'; readonly only?: readonly ResourceKind[] }
  /** These placements stopped where they run, whatever the file says of their state; with `near` only those on such a node. */
  | {
      readonly kind: 'stop';
      readonly placements: readonly string[];
      readonly near?: readonly NodeName[];
      /** Those that are started again afterwards: what answers is not stopped where that start would be refused. */
      readonly back?: readonly string[];
    }
  /** The same started. */
  | {
      readonly kind: 'start';
      readonly placements: readonly string[];
      /** On their fallback, or on their own nodes unless they run on it; absent for where they ran last. */
      readonly layout?: 'fallback' | 'own';
      readonly near?: readonly NodeName[];
    }
  /** These placements accept no requests, and none is in flight; what runs goes on. */
  | ({ readonly kind: 'drain' } & DrainWish)
  /** These Macs restarted, or switched off; `back` as for a stop. */
  | { readonly kind: 'reboot' | 'shutdown'; readonly nodes: readonly NodeName[]; readonly back?: readonly string[] }
  /** These Macs left alone from now on, or no longer. */
  | ({ readonly kind: 'hold' } & HoldWish)
  /** Nothing of us left on these Macs; the fleet is that of `fleetWithout`, and `placements` those that it stops. */
  | ({ readonly kind: 'uninstall'; readonly placements: readonly string[] } & UninstallWish);

/**
 * Nodes for which a plan has failed. A placement has a door on each node of both its layouts, and where an earlier file left
 * one. Where one of these doors was not drained or not seen, the goal has failed for every node of the placement, since the
 * next batch may hold only those.
 */
export function withUndrained(
  failed: readonly NodeName[],
  goal: Goal,
  { observed, ...look }: DoorLook & Pick<Plan, 'observed'>,
): readonly NodeName[] {
  if (goal.kind !== 'drain') return failed;
  const isUndrained = (node: NodeName): boolean => failed.includes(node) || !Object.hasOwn(observed, node);
  const undrained = look.fleet.placements.filter(
    ({ name }) => goal.placements.includes(name) && doorNodes(look, [name]).some(isUndrained),
  );
  return [...new Set([...failed, ...undrained.flatMap(everyNode)])];
}

/** Those of the targets that a goal is about: to drain, every node may have a door, and only those that do are touched. */
export function targetsForGoal(goal: Goal, targets: readonly NodeName[], look: DoorLook): readonly NodeName[] {
  if (goal.kind !== 'drain') return targets;
  const meant = doorNodes(look, goal.placements);
  return targets.filter((node) => meant.includes(node));
}

/**
 * The fleet in which nothing is placed on these nodes, no link ends there and no keeper is wanted. Placements are to be
 * given where they run. One that has other members as well is stopped on them. One that only its other layout has there
 * is left out: what the nodes keep of it is left over, and it runs on.
 *
 * @returns the fleet, with the names of placements that reach over to other nodes: they are stopped there
 */
export function fleetWithout(
  fleet: DesiredFleet,
  nodes: readonly NodeName[],
): { readonly fleet: DesiredFleet; readonly placements: readonly string[] } {
  const isGone = (node: NodeName): boolean => nodes.includes(node);
  const placements = fleet.placements.flatMap((one): readonly DesiredPlacement[] => {
    if (!everyNode(one).some(isGone)) return [one];
    const others = one.nodes.filter((node) => !isGone(node));
    if (others.length === 0 || others.length === one.nodes.length) return [];
    const { fallback: _, home: __, ...rest } = one;
    return [{ ...rest, nodes: others, state: 'stopped' }];
  });
  const reaching = fleet.placements.filter(({ nodes: own }) => own.some(isGone) && !own.every(isGone));
  const links = fleet.thunderbolt.links.filter(({ ends }) => !ends.some(({ node }) => isGone(node)));
  const { keeper: _, ...system } = fleet.system;
  return {
    fleet: { ...fleet, system, placements, thunderbolt: { ...fleet.thunderbolt, links } },
    placements: reaching.map(({ name }) => name),
  };
}

/**
 * The fleet with its placements on the nodes that a goal means: what is stopped is stopped where it runs, and what is
 * started goes where it is wanted. What is to serve by the file serves on its own nodes, so that a plan for the whole
 * file moves it back.
 */
export function fleetForGoal(goal: Goal, desired: DesiredFleet, { nodes }: FleetObservation): DesiredFleet {
  switch (goal.kind) {
    case 'hold':
    case 'uninstall':
      return desired;
    case 'converge': {
      const last = whereTheyRanLast(desired, nodes).placements;
      const placements = desired.placements.map((one, at) => (one.state === 'stopped' ? (last[at] ?? one) : one));
      return { ...desired, placements };
    }
    case 'stop':
    case 'drain':
    case 'reboot':
    case 'shutdown':
      return whereTheyRanLast(desired, nodes);
    case 'start': {
      const isNamed = ({ name }: { readonly name: string }): boolean => goal.placements.includes(name);
      const current = whereTheyRun(desired, nodes);
      if (goal.layout === 'fallback') return withFallbacks(current, isNamed);
      if (goal.layout === 'own') return current;
      const last = whereTheyRanLast(desired, nodes).placements;
      return { ...current, placements: current.placements.map((one, at) => (isNamed(one) ? (last[at] ?? one) : one)) };
    }
  }
}
