import { everyNode, withFallbacks } from '../../desired/layouts.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, hasTrait } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet, DesiredPlacement } from '../../model/desired.ts';
import { mapKnown } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import { type Step, stepId } from '../../model/step.ts';
import { addressed, nodeSubject, subjectNodes } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { sudo } from '../../rack/access/resource.ts';
import { accounts } from '../../rack/accounts/resource.ts';
import { type ListWish, listFolders } from '../../rack/artifacts/models/list-folders.ts';
import { type PullWish, pullModels } from '../../rack/artifacts/models/model-resource.ts';
import { type PruneWish, pruneModels } from '../../rack/artifacts/models/prune-models.ts';
import { type VerifyWish, verifyModels } from '../../rack/artifacts/models/verify-models.ts';
import { listPackages, type PackagesWish } from '../../rack/artifacts/runtimes/list-packages.ts';
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
import { areaOf } from '../diagnose/rules.ts';
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

/** Only for Macs with FileVault known to be on; most other Macs come back without help. */
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
  /** The desired state in the file, with the goal's overrides. */
  readonly desired: DesiredFleet;
  /** The registry's resources, and resources that only this goal changes. */
  readonly resources: readonly Resource[];
  /** Kinds whose blockers and unknown facts block the goal. */
  readonly barring: readonly ResourceKind[];
  /** True if the goal may change a property of this kind. */
  readonly isMeant: (kind: ResourceKind, property: Property) => boolean;
  /** True if a finding is shown with the plan; by default all are shown. */
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

/** True if a property is the gateway state of one of these placements. */
const isStateOf = ({ about: { part, placement = '' } }: Property, placements: readonly string[]): boolean =>
  part === 'door' && placements.includes(placement);

/** The placements that the goal affects. One named through its fallback's nodes can run elsewhere. */
const meantPlacements = ({ placements: named, near }: PlacementGoal, { placements }: DesiredFleet) =>
  placements.filter(
    ({ name, nodes }) => named.includes(name) && (near === undefined || nodes.some((node) => near.includes(node))),
  );

/** The nodes of the placements that the goal affects, in a fleet from {@link fleetForGoal}. */
export const meantNodes = (goal: PlacementGoal, fleet: DesiredFleet): readonly NodeName[] =>
  meantPlacements(goal, fleet).flatMap(({ nodes }) => nodes);

function placementScope(goal: PlacementGoal, desired: DesiredFleet): Scope {
  const names = meantPlacements(goal, desired).map(({ name }) => name);
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

/** The scope of a restart: all placements on these Macs, with their other nodes, and the restart itself. */
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

/** The resources of `uninstall`, only on its nodes, in reverse setup order. */
function uninstallResources(goal: Extract<Goal, { kind: 'uninstall' }>): readonly Resource[] {
  const changed = (one: Resource): Resource => ({ ...one, ...one.onUninstall?.(goal) });
  const gone = resources.filter(({ isPrecondition, onUninstall }) => isPrecondition === undefined && onUninstall);
  return [...preconditions.map(changed), ...gone.toReversed().map(changed), uninstall(goal)];
}

/** The scope of a command that changes only these kinds, and whose plans show only why nodes were not reached. */
const narrowScope = (
  desired: DesiredFleet,
  kinds: readonly ResourceKind[],
  own: readonly Resource[],
  barring: readonly ResourceKind[] = own.slice(0, -1).map(({ kind }) => kind),
): Scope => ({
  desired,
  resources: own,
  barring,
  isMeant: (kind) => kinds.includes(kind),
  isTold: (one) => areaOf(one) === 'ssh',
});

export function scopeOf(goal: Goal, desired: DesiredFleet): Scope {
  switch (goal.kind) {
    case 'converge': {
      const kinds = goal.only ?? allKinds();
      const names = desired.placements.map(({ name }) => name);
      return {
        desired,
        resources,
        // If a start follows, any blocked kind also blocks the stop.
        barring: kinds.includes('placement') ? allKinds() : [...always, ...kinds],
        // Gateways are included with their placement so that a new run finishes both after an interruption.
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
        isTold: (one, { asked }) =>
          hasTrait(one, 'unasked-gateway') ||
          (areaOf(one) === 'ssh' && asked.some((node) => subjectNodes(one.subject).includes(node))),
      };
    case 'hold':
      return narrowScope(desired, ['hold'], [identity, sudo, keepHold(goal)]);
    case 'prune':
      return narrowScope(desired, ['model'], [...preconditions, pruneModels(goal)], [...always, 'model']);
    case 'verify-models':
      return narrowScope(desired, ['model'], [identity, sudo, verifyModels(goal)]);
    case 'list-folders':
      return narrowScope(desired, ['model'], [identity, sudo, listFolders(goal)]);
    case 'list-packages':
      return narrowScope(
        desired,
        ['rollback', 'accounts', 'runtime'],
        [...preconditions, accounts, listPackages(goal)],
      );
    case 'pull':
      // Downloads run as an account of their own, which is created if it is missing.
      return narrowScope(
        desired,
        ['model', 'accounts'],
        [identity, sudo, accounts, pullModels(goal)],
        ['identity', 'sudo', 'accounts', 'model'],
      );
    case 'uninstall': {
      const left = uninstallResources(goal);
      return {
        desired,
        resources: left,
        barring: left.map(({ kind }) => kind),
        isMeant: (kind) => kind !== 'identity' && kind !== 'sudo',
        isTold: (one) => ['ssh', 'uninstall'].includes(areaOf(one)),
      };
    }
    case 'reboot':
    case 'shutdown':
      return restartScope(goal, desired);
  }
}

/** The goal of a plan. */
export type Goal =
  /** Applies the file's desired state; with `only`, limited to these kinds. */
  | { readonly kind: 'converge'; readonly only?: readonly ResourceKind[] }
  /**
   * Stops these placements where they run, whatever their state in the file; with `near`, only those on these nodes.
   */
  | {
      readonly kind: 'stop';
      readonly placements: readonly string[];
      readonly near?: readonly NodeName[];
      /** Placements to start again afterwards. One that answers is not stopped if its start would be refused. */
      readonly back?: readonly string[];
    }
  /** Starts these placements. */
  | {
      readonly kind: 'start';
      readonly placements: readonly string[];
      /** `fallback`, or `own` unless they run on the fallback; if absent, the layout of their last run. */
      readonly layout?: 'fallback' | 'own';
      readonly near?: readonly NodeName[];
    }
  /** Drains these placements: they accept no requests and have none in flight, but keep running. */
  | ({ readonly kind: 'drain' } & DrainWish)
  /** Restarts these Macs or shuts them down; `back` as for a stop. */
  | { readonly kind: 'reboot' | 'shutdown'; readonly nodes: readonly NodeName[]; readonly back?: readonly string[] }
  /** Puts these Macs on hold, or releases them. */
  | ({ readonly kind: 'hold' } & HoldWish)
  /** Hashes every file of these published models. */
  | ({ readonly kind: 'verify-models' } & VerifyWish)
  /** Brings these models to the nodes whose placements read them. */
  | ({ readonly kind: 'pull' } & PullWish)
  /** Lists the files in the folders of these models on their nodes. */
  | ({ readonly kind: 'list-folders' } & ListWish)
  /** Lists the packages of these runtimes. */
  | ({ readonly kind: 'list-packages' } & PackagesWish)
  /** Deletes models that the file does not declare. The fleet has every model of the file. */
  | ({ readonly kind: 'prune' } & PruneWish)
  /** Removes meshwright from these Macs. The fleet comes from `fleetWithout`; `placements` are the ones to stop. */
  | ({ readonly kind: 'uninstall'; readonly placements: readonly string[] } & UninstallWish);

/**
 * The nodes for which a plan failed. A placement can have a gateway on every node of both layouts, and on nodes where
 * an earlier file left one. If a gateway was not drained or not observed, the goal fails for all nodes of its
 * placement, because the next batch can consist of only those nodes.
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
 * The fleet without placements, links and keepers on these nodes. Expects placements in their running layout. A
 * placement that also has other nodes is stopped there. A placement that uses these nodes only in its other layout
 * keeps running, because its files on them are leftovers.
 * @returns the fleet, and the names of placements that are also stopped on other nodes
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
 * The fleet with every placement on the nodes that the goal uses: stops use the running layout, starts the requested
 * one. A plan for the whole file puts placements on their own nodes, so that it moves them back.
 */
export function fleetForGoal(goal: Goal, desired: DesiredFleet, { nodes }: FleetObservation): DesiredFleet {
  switch (goal.kind) {
    case 'hold':
    case 'prune':
    case 'verify-models':
    case 'list-folders':
    case 'list-packages':
    case 'pull':
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
