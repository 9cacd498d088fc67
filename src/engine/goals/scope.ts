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
import { type DrainView, type DrainWish, drainGateways, gatewayNodes } from '../../rack/placement/endpoint/drain.ts';
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

type RestartGoal = Extract<Goal, { kind: 'reboot' | 'shutdown' }>;

type PlacementGoal = Extract<Goal, { kind: 'stop' | 'start' }>;

/** Longer than the slowest Mac needs to shut down, run its firmware and boot. */
const restartDeadlineMs = 1_200_000;

const own = addressed({ kind: 'boot-session' });

const targetsOf = (goal: RestartGoal, { targets }: View): readonly ObservedTarget[] =>
  targets.filter(({ desired: { name } }) => goal.nodes.includes(name));

function propertyOf(goal: RestartGoal, { desired: { name: node }, facts }: ObservedTarget): Property {
  return {
    node,
    ...own,
    // The next session is not known in advance; any different one proves the restart.
    kind: 'change',
    desired: null,
    observed: mapKnown(read(facts, bootSessionFact), ({ uuid }) => uuid),
    from: 'up',
    to: goal.kind === 'reboot' ? 'up in a new boot session' : 'off',
    reason: goal.kind,
    // Only these kinds block a restart, not those that only a start needs.
    after: ['identity', 'sudo', 'placement'],
  };
}

/** Without its boot session a Mac could be restarted twice, because no one could see the first restart. */
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

/** Only for Macs on which FileVault is known to be on; most others come back by themselves. */
const endsAtFileVault = ({ desired: { name: node } }: ObservedTarget): Diagnostic =>
  diagnose('reboot/ends-at-filevault', {
    subject: nodeSubject(node),
    detail: 'FileVault is on, so the Mac waits for its password after the restart.',
    hint: prose`Have the password ready. After the restart: ${meshwright('unlock', node)}`,
  });

/** Restarts or switches off each Mac at most once in its observed boot session. */
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

/** The part of the file and the registry that a goal uses. */
export interface Scope {
  /** The file with the states that the goal overrides. */
  readonly desired: DesiredFleet;
  /** The registry's resources, and those that only this goal changes. */
  readonly resources: readonly Resource[];
  /** Kinds whose blockers and unknowns count. */
  readonly barring: readonly ResourceKind[];
  /** Whether the goal may change a property of this kind. */
  readonly isMeant: (kind: ResourceKind, property: Property) => boolean;
  /** Whether to show a finding with the plan; default: all. */
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

/** Whether a property is the gateway state of one of these placements. */
const isStateOf = ({ about: { part, placement = '' } }: Property, placements: readonly string[]): boolean =>
  part === 'door' && placements.includes(placement);

/** A placement may be named for its fallback's nodes but run on others. */
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
      (goal.kind === 'start' && isStateOf(property, names)),
  };
}

/** The scope of a restart: the placements on these Macs, including their other nodes, and the restart itself. */
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

/** The scope of `uninstall`, only on its nodes, in reverse order of setup. */
function uninstallResources(goal: Extract<Goal, { kind: 'uninstall' }>): readonly Resource[] {
  const changed = (one: Resource): Resource => ({ ...one, ...one.onUninstall?.(goal) });
  const gone = resources.filter(({ isPrecondition, onUninstall }) => isPrecondition === undefined && onUninstall);
  return [...preconditions.map(changed), ...gone.toReversed().map(changed), uninstall(goal)];
}

export function scopeOf(goal: Goal, desired: DesiredFleet): Scope {
  switch (goal.kind) {
    case 'converge': {
      const kinds = goal.only ?? allKinds();
      const names = desired.placements.map(({ name }) => name);
      return {
        desired,
        resources,
        // With a start to follow, any blocked kind also blocks the stop.
        barring: kinds.includes('placement') ? allKinds() : [...always, ...kinds],
        // A gateway belongs to its placement, so that an interrupted run finishes both.
        isMeant: (kind, property) =>
          kind === 'rollback' || kinds.includes(kind) || (kinds.includes('placement') && isStateOf(property, names)),
      };
    }
    case 'stop':
    case 'start':
      return placementScope(goal, desired);
    case 'drain':
      return {
        desired,
        resources: [...preconditions, drainGateways(goal)],
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

/** The goal of a plan. */
export type Goal =
  /** The desired state in the file; with `only`, limited to these kinds. */
  | { readonly kind: 'converge'; readonly only?: readonly ResourceKind[] }
  /**
   * These placements stopped where they run, whatever their state in the file; with `near`, only those on these nodes.
   */
  | {
      readonly kind: 'stop';
      readonly placements: readonly string[];
      readonly near?: readonly NodeName[];
      /** Placements to start again afterwards; one that answers is not stopped if that start would be refused. */
      readonly back?: readonly string[];
    }
  /** These placements started. */
  | {
      readonly kind: 'start';
      readonly placements: readonly string[];
      /** `fallback`, or `own` unless they run on the fallback; absent: where they ran last. */
      readonly layout?: 'fallback' | 'own';
      readonly near?: readonly NodeName[];
    }
  /** These placements accept no requests and have none in flight; they keep running. */
  | ({ readonly kind: 'drain' } & DrainWish)
  /** These Macs restarted, or switched off; `back` as for a stop. */
  | { readonly kind: 'reboot' | 'shutdown'; readonly nodes: readonly NodeName[]; readonly back?: readonly string[] }
  /** These Macs on hold, or released. */
  | ({ readonly kind: 'hold' } & HoldWish)
  /**
   * meshwright removed from these Macs; the fleet comes from `fleetWithout`, and `placements` are those that it stops.
   */
  | ({ readonly kind: 'uninstall'; readonly placements: readonly string[] } & UninstallWish);

/**
 * Nodes for which a plan failed. A placement may have a gateway on each node of both layouts, and where an earlier file
 * left one. If one of them was not drained or not observed, the goal fails for every node of the placement, because the
 * next batch may contain only those.
 */
export function withUndrained(
  failed: readonly NodeName[],
  goal: Goal,
  { observed, ...look }: DrainView & Pick<Plan, 'observed'>,
): readonly NodeName[] {
  if (goal.kind !== 'drain') return failed;
  const isUndrained = (node: NodeName): boolean => failed.includes(node) || !Object.hasOwn(observed, node);
  const undrained = look.desired.placements.filter(
    ({ name }) => goal.placements.includes(name) && gatewayNodes(look, [name]).some(isUndrained),
  );
  return [...new Set([...failed, ...undrained.flatMap(everyNode)])];
}

/** The targets that a goal affects; a drain affects only nodes with a gateway. */
export function targetsForGoal(goal: Goal, targets: readonly NodeName[], look: DrainView): readonly NodeName[] {
  if (goal.kind !== 'drain') return targets;
  const meant = gatewayNodes(look, goal.placements);
  return targets.filter((node) => meant.includes(node));
}

/**
 * The fleet without placements, links and keepers on these nodes. Expects placements where they run. A placement that
 * also has other nodes is stopped on them. A placement whose other layout uses these nodes is not affected: its files
 * there are leftovers, and it keeps running.
 *
 * @returns the fleet, and the names of placements that also have other nodes and are stopped there
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
 * The fleet with each placement on the nodes of the goal: stops apply where it runs, starts where it is requested. For
 * a plan of the whole file, placements serve on their own nodes, so that the plan moves them back.
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
