import { everyNode } from '../../desired/layouts.ts';
import { placementNamesFor } from '../../desired/replicas.ts';
import { selectNodes } from '../../desired/select.ts';
import type { DesiredFleet, DesiredNode, DesiredPlacement } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import type { Goal } from '../../rack/goal.ts';
import { durationMs, type Field, fillFields, type Play, type Task, type TaskOf } from './playbook.ts';

export interface PlayScope {
  readonly desired: DesiredFleet;
  /** The nodes named on the command line, or the nodes of placements named there. */
  readonly targets: readonly NodeName[];
  /** The placements named on the command line; absent if it contains node names or no names. */
  readonly placements?: readonly string[];
  /** The layout to start; if absent, the layout of the last run. */
  readonly layout?: 'fallback' | 'own';
}

/** A command for one node. Its arguments are not interpreted by a shell. */
export interface NodeCommand {
  readonly node: NodeName;
  readonly command: readonly string[];
  readonly unless?: readonly string[];
}

interface OnPlacements {
  /** The batch, and all other nodes of the placements. */
  readonly nodes: readonly NodeName[];
  readonly placements: readonly string[];
}

/** What a play asks before a batch begins. */
interface Readiness extends Required<Pick<Play, 'sparesHung' | 'windows'>> {
  /** One command per node, which exits with 0 if the batch may begin. */
  readonly commands: readonly NodeCommand[];
  /** The most requests in flight. */
  readonly requests?: number;
}

/** A task's work for one batch. */
export type TaskWork =
  /** A plan from a fresh observation that is shown, approved and run. */
  | { readonly kind: 'plan'; readonly goal: Goal; readonly targets: readonly NodeName[] }
  /** A check that a fresh observation leaves nothing to change. */
  | { readonly kind: 'verify'; readonly targets: readonly NodeName[] }
  | (Required<TaskOf<'wait'>> & { readonly nodes: readonly NodeName[] })
  | (TaskOf<'assert'> & { readonly nodes: readonly NodeName[] })
  | TaskOf<'confirm'>
  | { readonly kind: 'pause'; readonly ms: number }
  /** A check that the batch may begin. */
  | ({ readonly kind: 'ready' } & OnPlacements & Readiness)
  /** A check that these placements serve for this time. */
  | ({ readonly kind: 'bake'; readonly ms: number } & OnPlacements)
  | ({ readonly kind: 'recover' | 'bench' } & OnPlacements)
  | (TaskOf<'upgrade'> & OnPlacements)
  | TaskOf<'notify'>
  | (Pick<TaskOf<'run'>, 'kind' | 'effect' | 'deadlineMs'> & { readonly commands: readonly NodeCommand[] });

/** A play's nodes in fleet order. */
export function playNodes({ nodes }: Play, { desired, targets }: PlayScope): readonly NodeName[] {
  const all = desired.nodes.map(({ name }) => name);
  switch (nodes.kind) {
    case 'all':
      return all;
    case 'targets':
      return all.filter((name) => targets.includes(name));
    case 'names':
      return all.filter((name) => nodes.names.includes(name));
    case 'labels':
      return selectNodes(desired, { names: [], labels: nodes.labels }).nodes.map(({ name }) => name);
  }
}

/** All nodes of these plays in fleet order. */
export const nodesOfPlays = (plays: readonly Play[], scope: PlayScope): readonly NodeName[] =>
  inFleetOrder(
    plays.flatMap((play) => playNodes(play, scope)),
    scope,
  );

export const needsTargets = (plays: readonly Play[]): boolean => plays.some(({ nodes }) => nodes.kind === 'targets');

/** The tasks for each batch, with what the play itself asks of a batch before and after them. */
export function tasksOf(play: Play): readonly Task[] {
  const { sparesHung, windows = [], blockers = [], bakeMs, tasks } = play;
  const isAsked = sparesHung === true || windows.length + blockers.length > 0;
  return [
    ...(isAsked ? [{ kind: 'ready', play } as const] : []),
    ...tasks,
    ...(bakeMs === undefined ? [] : [{ kind: 'bake', ms: bakeMs } as const]),
  ];
}

export interface LaterTask {
  readonly task: Task;
  readonly nodes: readonly NodeName[];
}

/** The remaining tasks of a play for these nodes, followed by those of later plays. */
export function laterTasks(
  plays: readonly Play[],
  {
    play,
    nodes,
    tasks,
  }: { readonly play: number; readonly nodes: readonly NodeName[]; readonly tasks: readonly Task[] },
  scope: PlayScope,
): readonly LaterTask[] {
  const others = plays
    .slice(play + 1)
    .flatMap((one) => one.tasks.map((task) => ({ task, nodes: playNodes(one, scope) })));
  return [...tasks.map((task) => ({ task, nodes })), ...others];
}

/** The work of a task for these nodes, regardless of later tasks. */
export function expandTask(
  task: Task,
  scope: PlayScope,
  nodes: readonly NodeName[],
  later: readonly LaterTask[] = [],
): TaskWork {
  switch (task.kind) {
    case 'converge':
      return { kind: 'plan', goal: { kind: 'converge', ...given({ only: task.only }) }, targets: nodes };
    case 'verify':
      return { kind: 'verify', targets: nodes };
    case 'stop': {
      const choose = task.isRestart === true ? startedPlacements : chosenPlacements;
      const chosen = choose(task.placements, scope, nodes);
      return comingBack(placementPlan(task, chosen, scope, nodes), chosen, startedLater(later, scope));
    }
    case 'start':
      return placementPlan(task, startedPlacements(task.placements, scope, nodes), scope, nodes);
    case 'drain':
      return drainPlan(task, scope, nodes);
    case 'reboot':
    case 'shutdown': {
      const work: PlanWork = { kind: 'plan', goal: { kind: task.kind, nodes }, targets: withMembers(nodes, scope) };
      return comingBack(work, scope.desired.placements, startedLater(later, scope));
    }
    case 'goal':
      return { kind: 'plan', goal: task.goal, targets: nodes };
    case 'wait': {
      const wanted = startedPlacements(task.placements, scope, nodes);
      const placements = task.for === 'serving' ? wanted.map(({ name }) => name) : [];
      const members = wanted.flatMap(everyNode);
      const seen = task.for === 'serving' ? inFleetOrder(members, scope) : nodes;
      return { kind: 'wait', for: task.for, nodes: seen, placements, deadlineMs: task.deadlineMs };
    }
    case 'ready':
      return { kind: 'ready', ...onPlacements(undefined, scope, nodes), ...readinessOf(task.play, scope, nodes) };
    case 'bake':
      return { ...task, ...onPlacements(undefined, scope, nodes) };
    case 'recover':
    case 'bench':
      return { kind: task.kind, ...onPlacements(task.placements, scope, nodes) };
    case 'upgrade':
      return { ...task, nodes, placements: onPlacements(undefined, scope, nodes).placements };
    case 'notify': {
      const command = task.command.map((word) => fillFields(word, sentenceValues(scope, nodes)));
      return { kind: 'notify', command };
    }
    case 'assert': {
      const says = task.says && fillFields(task.says, sentenceValues(scope, nodes));
      return { ...task, ...given({ says }), nodes };
    }
    case 'confirm':
      return { kind: 'confirm', text: fillFields(task.text, sentenceValues(scope, nodes)) };
    case 'pause':
      return { kind: 'pause', ms: durationMs(task.text) };
    case 'run':
      return {
        kind: 'run',
        commands: scope.desired.nodes
          .filter(({ name }) => nodes.includes(name))
          .map((node) => commandFor(task, node, scope)),
        effect: task.effect,
        deadlineMs: task.deadlineMs,
      };
  }
}

/** The placements to start on these nodes, and all their nodes. */
export function onPlacements(
  named: readonly string[] | undefined,
  { desired, targets }: PlayScope,
  nodes: readonly NodeName[],
): OnPlacements {
  const wanted = startedPlacements(named, { desired, targets }, nodes);
  return {
    nodes: inFleetOrder([...nodes, ...wanted.flatMap(everyNode)], { desired }),
    placements: wanted.map(({ name }) => name),
  };
}

function readinessOf(
  { sparesHung = false, windows = [], blockers = [] }: Play,
  scope: PlayScope,
  nodes: readonly NodeName[],
): Readiness {
  const commands = blockers.flatMap((one) => {
    if ('requests' in one) return [];
    const command = 'file' in one ? ['test', '!', '-e', one.file] : one.command;
    const task = { kind: 'run', command, effect: 'none', deadlineMs: blockerDeadlineMs } as const;
    return scope.desired.nodes.filter(({ name }) => nodes.includes(name)).map((node) => commandFor(task, node, scope));
  });
  const limits = blockers.flatMap((one) => ('requests' in one ? [one.requests] : []));
  return { sparesHung, windows, commands, ...(limits.length === 0 ? {} : { requests: Math.min(...limits) }) };
}

export const blockerDeadlineMs = 60_000;

type PlanWork = Extract<TaskWork, { kind: 'plan' }>;

/** Placements that later tasks start before any later task installs runtimes and models. */
function startedLater(later: readonly LaterTask[], scope: PlayScope): readonly string[] {
  const bringer = later.findIndex(
    ({ task }) =>
      task.kind === 'converge' &&
      (task.only === undefined || (task.only.includes('runtime') && task.only.includes('model'))),
  );
  return later
    .slice(0, bringer === -1 ? undefined : bringer)
    .flatMap(({ task, nodes }) => (task.kind === 'start' ? startedPlacements(task.placements, scope, nodes) : []))
    .map(({ name }) => name);
}

/** Adds the stopped placements that start again. */
function comingBack(work: PlanWork, chosen: readonly DesiredPlacement[], started: readonly string[]): TaskWork {
  const back = chosen.map(({ name }) => name).filter((name) => started.includes(name));
  const { goal } = work;
  const ends = goal.kind === 'stop' || goal.kind === 'reboot' || goal.kind === 'shutdown';
  return ends && back.length > 0 ? { ...work, goal: { ...goal, back } } : work;
}

/** A stop or start affects all nodes of the placement, including those outside the batch. */
function placementPlan(
  { kind, placements: named }: TaskOf<'stop' | 'start'>,
  placements: readonly DesiredPlacement[],
  scope: PlayScope,
  nodes: readonly NodeName[],
): PlanWork {
  const { layout } = scope;
  // Placements that are not named are stopped or started where they run, possibly on their fallback.
  const isNear = (named ?? scope.placements) === undefined && placements.some(({ fallback }) => fallback !== undefined);
  const chosen = { placements: placements.map(({ name }) => name), ...(isNear ? { near: nodes } : {}) };
  const start: Goal = { kind: 'start', ...chosen, ...given({ layout }) };
  return {
    kind: 'plan',
    goal: kind === 'start' ? start : { kind, ...chosen },
    targets: inFleetOrder(placements.flatMap(everyNode), scope),
  };
}

/** Closes every gateway of a published placement, because an earlier file may have left one on any node. */
function drainPlan(task: TaskOf<'drain'>, scope: PlayScope, nodes: readonly NodeName[]): TaskWork {
  const chosen = chosenPlacements(task.placements, scope, nodes).filter(({ publication }) => publication !== undefined);
  const placements = chosen.map(({ name }) => name);
  return {
    kind: 'plan',
    goal: { kind: 'drain', placements, waitMs: task.deadlineMs },
    targets: placements.length === 0 ? [] : scope.desired.nodes.map(({ name }) => name),
  };
}

/** These nodes, and all other nodes of the placements on them, because these placements are stopped first. */
function withMembers(nodes: readonly NodeName[], scope: PlayScope): readonly NodeName[] {
  const all = { desired: scope.desired, targets: scope.targets };
  const members = chosenPlacements(undefined, all, nodes).flatMap(everyNode);
  return inFleetOrder([...nodes, ...members], scope);
}

/** Unique nodes in fleet order. */
export const inFleetOrder = (
  names: readonly NodeName[],
  { desired }: Pick<PlayScope, 'desired'>,
): readonly NodeName[] => desired.nodes.map(({ name }) => name).filter((name) => names.includes(name));

/** The placements in the task, otherwise those of the command, otherwise all on these nodes. */
function chosenPlacements(
  named: readonly string[] | undefined,
  { desired, placements }: PlayScope,
  nodes: readonly NodeName[],
): readonly DesiredPlacement[] {
  const chosen = named === undefined ? placements : placementNamesFor(named, desired);
  return desired.placements.filter((one) =>
    chosen === undefined ? everyNode(one).some((node) => nodes.includes(node)) : chosen.includes(one.name),
  );
}

/** Same as {@link chosenPlacements}, but placements that are not named must be declared as serving. */
function startedPlacements(
  named: readonly string[] | undefined,
  scope: PlayScope,
  nodes: readonly NodeName[],
): readonly DesiredPlacement[] {
  const chosen = chosenPlacements(named, scope, nodes);
  const isNamed = (named ?? scope.placements) !== undefined;
  return isNamed ? chosen : chosen.filter(({ state }) => state === 'serving');
}

function sentenceValues(scope: PlayScope, nodes: readonly NodeName[]): Partial<Record<Field, string>> {
  const placements = chosenPlacements(undefined, scope, nodes).map(({ name }) => name);
  return { cluster: scope.desired.name, nodes: nodes.join(', '), placements: placements.join(', ') };
}

function commandFor(
  { command, unless }: TaskOf<'run'>,
  { name, host }: DesiredNode,
  { desired }: PlayScope,
): NodeCommand {
  const fill = (words: readonly string[]): readonly string[] =>
    words.map((word) => fillFields(word, { cluster: desired.name, node: name, host }));
  return { node: name, command: fill(command), ...(unless === undefined ? {} : { unless: fill(unless) }) };
}
