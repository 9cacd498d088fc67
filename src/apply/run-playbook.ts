import { everyNode, nodesToSee } from '../desired/layouts.ts';
import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { type Goal, withUndrained } from '../engine/goals/scope.ts';
import { makePlan } from '../engine/plan/make-plan.ts';
import type { EffectTotal, Plan } from '../engine/plan/plan.ts';
import { seenProperties } from '../engine/plan/view.ts';
import {
  batchesOf,
  expandTask,
  inFleetOrder,
  type LaterTask,
  nodesOfPlays,
  playNodes,
  type Work,
} from '../engine/playbooks/expand.ts';
import type { Play, Playbook } from '../engine/playbooks/playbook.ts';
import type { DesiredFleet } from '../model/desired.ts';
import { canonicalJson, type Json } from '../model/digest.ts';
import { given } from '../model/given.ts';
import type { NodeName } from '../model/node.ts';
import { nodeSubject } from '../model/subject.ts';
import { named, prose } from '../model/text/prose.ts';
import type { FleetObservation } from '../rack/examination.ts';
import { whereTheyRanLast } from '../rack/placement/state/layouts.ts';
import { propertyKey } from '../rack/resource.ts';
import { isDone } from './execute.ts';
import type { LeaseRefusal } from './lease/lease-keeper.ts';
import { type OpenRun, openRun, type RunReport } from './open-run.ts';
import type { PlaybookOptions, PlaybookPlace, PlaybookReport, PlaybookWork, ShownPlan } from './playbook-report.ts';
import { pause, timeFor } from './run-timing.ts';

/** State kept between the tasks of a playbook run. */
interface PlaybookState {
  readonly options: PlaybookOptions;
  readonly plays: readonly Play[];
  readonly works: PlaybookWork[];
  /** Opened when something is sent for the first time. */
  run?: OpenRun;
  /** The last observation, until a task may have changed the nodes. */
  seen?: { readonly nodes: ReadonlySet<NodeName>; readonly observation: FleetObservation };
  first: PlaybookOptions['first'];
  isStopped: boolean;
  isDeclined: boolean;
}

/**
 * Runs a playbook's tasks, play after play and batch after batch, with one journal, and with one lease and one
 * connection per node from its first change to the end. A failed node is left out of the rest of its play.
 * @throws FleetError `journal/cannot-write` before anything is sent, and whatever `observe` rejects with
 */
export async function runPlaybook(playbook: Playbook, options: PlaybookOptions): Promise<PlaybookReport> {
  const { plays } = playbook;
  const { first } = options;
  const state: PlaybookState = { options, plays, works: [], first, isStopped: false, isDeclined: false };
  try {
    if (options.foresee !== undefined) options.foresee(await effectsAhead(playbook, state));
    for (const [at, play] of plays.entries()) {
      if (!isOver(state)) await runPlay(play, at, state);
    }
  } finally {
    await state.run?.close();
  }
  const nodes = nodesOfPlays(plays, options.scope);
  const isInterrupted = options.signal?.aborted === true;
  const observation = isInterrupted ? undefined : await lookAt(nodes, state);
  return {
    works: state.works,
    nodes,
    ...given({ observation }),
    isStopped: state.isStopped,
    isDeclined: state.isDeclined,
    isInterrupted,
  };
}

/** The effects of all tasks' plans, each made from the nodes' current state. */
async function effectsAhead({ plays }: Playbook, state: PlaybookState): Promise<readonly EffectTotal[]> {
  const { scope } = state.options;
  const works = plays.flatMap((play, at) => {
    const nodes = playNodes(play, scope);
    return play.tasks.map((task, index) =>
      expandTask(task, scope, nodes, laterTasks(index, { play, at, nodes }, state)),
    );
  });
  const plans = works.filter((work) => work.kind === 'plan');
  const names = inFleetOrder(
    plans.flatMap(({ targets }) => targets),
    scope,
  );
  if (names.length === 0) return [];
  const observation = await lookAt(names, state);
  return plans.flatMap(({ goal, targets }) => makePlan({ goal, desired: scope.desired, observation, targets }).effects);
}

/** For a run without leases. */
const neverLost = new AbortController().signal;

const isOver = ({ options, isStopped, isDeclined }: PlaybookState): boolean =>
  isStopped || isDeclined || options.signal?.aborted === true;

/** Runs a play, batch after batch; `at` counts from 0. */
async function runPlay(play: Play, at: number, state: PlaybookState): Promise<void> {
  const failed = new Set<NodeName>();
  const batches = batchesOf(play, playNodes(play, state.options.scope));
  for (const [batch, members] of batches.entries()) {
    for (const [index, task] of play.tasks.entries()) {
      const nodes = members.filter((node) => !failed.has(node));
      if (isOver(state) || nodes.length === 0) break;
      const later = laterTasks(index, { play, at, nodes }, state);
      const work = await runTask({ play: at, batch, task, nodes }, state, later);
      for (const node of work.failed.filter((one) => members.includes(one))) failed.add(node);
    }
    if (failed.size > play.maxFailures) state.isStopped = true;
    if (isOver(state)) return;
  }
}

/** The remaining tasks for these nodes, then those of later plays. */
function laterTasks(
  index: number,
  { play, at, nodes }: { readonly play: Play; readonly at: number } & Pick<PlaybookPlace, 'nodes'>,
  { plays, options }: PlaybookState,
): readonly LaterTask[] {
  const own = play.tasks.slice(index + 1).map((task) => ({ task, nodes }));
  const others = plays
    .slice(at + 1)
    .flatMap((one) => one.tasks.map((task) => ({ task, nodes: playNodes(one, options.scope) })));
  return [...own, ...others];
}

async function runTask(place: PlaybookPlace, state: PlaybookState, later: readonly LaterTask[]): Promise<PlaybookWork> {
  const { options, works } = state;
  const expanded = expandTask(place.task, options.scope, place.nodes, later);
  const done = await runnerOf(expanded.kind)(expanded, {
    place,
    options,
    look: (nodes) => lookAt(nodes, state),
    forget: () => {
      delete state.seen;
    },
    takeFirst: () => {
      const { first } = state;
      state.first = undefined;
      const observation = first?.observation;
      if (observation) state.seen = { nodes: new Set(place.nodes), observation };
      return first;
    },
    run: () => {
      state.run ??= openRun(options.run());
      return state.run;
    },
  });
  const work = workOf(place, done);
  state.isDeclined ||= done.isDeclined === true;
  state.isStopped ||= done.isEnd === true;
  works.push(work);
  await options.onWork?.(work, state.run?.lost ?? neverLost);
  return work;
}

function workOf(place: PlaybookPlace, { plan, observation, run, ...done }: DoneWork): PlaybookWork {
  return {
    ...place,
    ...given({ plan, observation, run }),
    failed: done.failed ?? [],
    refusals: done.refusals ?? run?.refusals ?? [],
    diagnostics: done.diagnostics ?? run?.diagnostics ?? [],
  };
}

/** The last observation if it is still valid and covers these nodes, otherwise a fresh one. */
async function lookAt(nodes: readonly NodeName[], state: PlaybookState): Promise<FleetObservation> {
  const { seen, options } = state;
  if (seen !== undefined && nodes.every((node) => seen.nodes.has(node))) return seen.observation;
  const observation = await options.observe(nodes);
  state.seen = { nodes: new Set(nodes), observation };
  return observation;
}

interface WorkTools {
  readonly place: PlaybookPlace;
  readonly options: PlaybookOptions;
  readonly look: (nodes: readonly NodeName[]) => Promise<FleetObservation>;
  /** Invalidates the last observation. */
  readonly forget: () => void;
  readonly takeFirst: () => ShownPlan | undefined;
  readonly run: () => OpenRun;
}

interface DoneWork {
  readonly plan?: Plan;
  readonly observation?: FleetObservation;
  readonly run?: RunReport;
  readonly failed?: readonly NodeName[];
  readonly refusals?: readonly LeaseRefusal[];
  readonly diagnostics?: readonly Diagnostic[];
  readonly isDeclined?: boolean;
  /** The playbook must stop: a lease was refused or lost, or the run was interrupted. */
  readonly isEnd?: boolean;
}

type WorkOf<K extends Work['kind']> = Extract<Work, { readonly kind: K }>;
type Runner<K extends Work['kind']> = (work: WorkOf<K>, tools: WorkTools) => Promise<DoneWork>;

const runners: { readonly [K in Work['kind']]: Runner<K> } = {
  plan: planAndRun,
  verify,
  wait: waitFor,
  assert: assertProperty,
  confirm,
  run: runOwn,
};

const runnerOf = (kind: Work['kind']) => runners[kind] as Runner<Work['kind']>;

async function planFor(goal: Goal, targets: readonly NodeName[], tools: WorkTools): Promise<Required<ShownPlan>> {
  const { desired } = tools.options.scope;
  const observation = await tools.look(targets);
  return { plan: makePlan({ goal, desired, observation, targets }), observation };
}

/**
 * Makes and shows a stale plan again; the loop ends because the run has the leases by then. A plan that only rolled
 * back network changes is followed by a plan for the resulting state.
 */
async function planAndRun(work: WorkOf<'plan'>, tools: WorkTools): Promise<DoneWork> {
  let done = await planAndRunOnce(work, tools, tools.takeFirst());
  while (done.run?.isStale === true) done = await planAndRunOnce(work, tools, undefined);
  return hasSettled(done) ? joined(done, await planAndRunOnce(work, tools, undefined)) : done;
}

/** Whether the run settled all unconfirmed network changes in the plan. */
function hasSettled(done: DoneWork): done is SettledWork {
  const settling = (done.run?.steps ?? []).filter(({ step }) => step.resource === 'rollback');
  return settling.length > 0 && settling.every(isDone) && done.isEnd !== true;
}

type SettledWork = DoneWork & { readonly plan: Plan; readonly run: RunReport };

/** Merges the results of both plans of a task. */
function joined({ plan: earlier, run: before }: SettledWork, done: DoneWork): DoneWork {
  const { plan = earlier, run = { ...before, steps: [], diagnostics: [] } } = done;
  return {
    ...done,
    plan: {
      ...plan,
      changes: [...earlier.changes, ...plan.changes],
      steps: [...earlier.steps, ...plan.steps],
    },
    run: {
      ...run,
      steps: [...before.steps, ...run.steps],
      diagnostics: [...before.diagnostics, ...run.diagnostics],
    },
  };
}

/** For saved plans, which lack their observation. */
const unseen: FleetObservation = { nodes: {}, failures: {} };

async function planAndRunOnce(
  { goal, targets }: WorkOf<'plan'>,
  tools: WorkTools,
  first: ShownPlan | undefined,
): Promise<DoneWork> {
  const { options, place } = tools;
  const shown = first ?? (await planFor(goal, targets, tools));
  if (options.signal?.aborted === true) return shown;
  const { plan } = shown;
  const { desired } = options.scope;
  const fleet = { fleet: desired, seen: shown.observation ?? unseen, observed: plan.observed };
  const kept = [...keptBack(plan), ...unreachedOf(goal, plan)];
  const blocked = goal.kind === 'converge' ? [] : withUndrained(kept, goal, fleet);
  if (plan.steps.every(({ act }) => act.kind === 'hands')) return { ...shown, failed: blocked };
  const isApproved = first !== undefined || (await options.approve(plan, place));
  if (!isApproved) return { ...shown, isDeclined: true };
  tools.forget();
  const observed = canonicalJson(jsonOf(plan.observed));
  const run = await tools.run().run(plan, {
    nodes: nodesToSee(desired, targets).map(({ name }) => name),
    isStale: (observation) =>
      canonicalJson(jsonOf(makePlan({ goal, desired, observation, targets }).observed)) !== observed,
  });
  const failed = [...withUndrained(failedNodes(plan, run), goal, fleet), ...blocked];
  return { ...shown, run, failed: [...new Set(failed)], isEnd: isEnd(run) };
}

const jsonOf = (observed: Plan['observed']): Json =>
  Object.fromEntries(Object.entries(observed).map(([node, { bootSession, hash }]) => [node, { bootSession, hash }]));

/** Nodes on which something blocks the command count as failed. */
const keptBack = ({ waiting, blockers }: Plan): readonly NodeName[] => [
  ...waiting.map(({ node }) => node),
  ...blockers.flatMap(({ node, peers }) => [node, ...peers]),
];

/** Macs to restart that were not reached, so that nothing waits for their return. */
const unreachedOf = (goal: Goal, { observed }: Plan): readonly NodeName[] =>
  goal.kind === 'reboot' || goal.kind === 'shutdown' ? goal.nodes.filter((node) => !Object.hasOwn(observed, node)) : [];

const isEnd = ({
  refusals,
  isLeaseLost,
  isInterrupted,
}: Pick<RunReport, 'refusals' | 'isLeaseLost' | 'isInterrupted'>): boolean =>
  refusals.length > 0 || isLeaseLost || isInterrupted;

/** The nodes and peers of failed steps. */
function failedNodes({ steps }: Plan, run: RunReport): readonly NodeName[] {
  const own = new Set(steps.map(({ id }) => id));
  const bad = run.steps.filter((one) => own.has(one.step.id) && one.step.act.kind !== 'hands' && !isDone(one));
  return [...new Set(bad.flatMap(({ step }) => [step.node, ...step.peers]))];
}

/** Fails if a fresh plan has changes. Manual steps and unobserved facts do not count. */
async function verify({ targets }: WorkOf<'verify'>, tools: WorkTools): Promise<DoneWork> {
  const shown = await planFor({ kind: 'converge' }, targets, tools);
  const diagnostics = shown.plan.changes.map(({ resource, node, from, to }) =>
    diagnose('task/still-different', {
      subject: nodeSubject(node),
      detail: prose`${resource} on ${named(node)}: expected ${to}, found ${from}.`,
    }),
  );
  return { ...shown, diagnostics, failed: [...new Set(shown.plan.changes.map(({ node }) => node))] };
}

async function assertProperty(work: WorkOf<'assert'>, tools: WorkTools): Promise<DoneWork> {
  const { property, is, says, nodes } = work;
  const observation = await tools.look(nodes);
  const seen = seenProperties(tools.options.scope.desired, observation);
  const found = nodes.flatMap((node) => {
    const value = seen.get(propertyKey({ node, address: property }));
    return value === undefined ? [] : [{ node, value }];
  });
  const wrong = found.filter(
    ({ value }) => value.kind === 'unknown' || canonicalJson(value.value) !== canonicalJson(is),
  );
  const told = (node: NodeName, what: string): Diagnostic =>
    diagnose('task/assert-failed', {
      subject: nodeSubject(node),
      detail: prose`${says === undefined ? '' : `${says} `}${property} on ${named(node)}: expected ${canonicalJson(is)}, ${what}.`,
    });
  if (found.length === 0) {
    return {
      observation,
      failed: nodes,
      diagnostics: nodes.map((node) => told(node, 'but the node has no such property')),
    };
  }
  const diagnostics = wrong.map(({ node, value }) =>
    told(node, value.kind === 'known' ? `found ${canonicalJson(value.value)}` : `but it is unknown: ${value.detail}`),
  );
  return { observation, failed: wrong.map(({ node }) => node), diagnostics };
}

async function confirm({ text }: WorkOf<'confirm'>, { options, place, forget }: WorkTools): Promise<DoneWork> {
  // The answer may take an hour.
  forget();
  return { isDeclined: !(await options.confirm(text, place)) };
}

async function runOwn(work: WorkOf<'run'>, tools: WorkTools): Promise<DoneWork> {
  tools.forget();
  const { timing } = tools.options;
  const report = await tools.run().command(work.commands, timeFor(work.deadlineMs, timing, 30_000));
  const { failed, refusals, diagnostics } = report;
  return { failed, refusals, diagnostics, isEnd: isEnd(report) };
}

type WaitWork = WorkOf<'wait'>;

/** An unmet condition, and the nodes that fail with it. */
interface Missing {
  readonly node: NodeName;
  readonly why: string;
  readonly fails: readonly NodeName[];
}

/** Observes repeatedly until all conditions hold or the deadline is over; empty if interrupted. */
export async function waitFor(
  work: WaitWork,
  {
    options,
    forget,
  }: Pick<WorkTools, 'forget'> & {
    readonly options: Pick<PlaybookOptions, 'timing' | 'signal' | 'scope' | 'observe' | 'onWait'>;
  },
): Promise<DoneWork> {
  const { timing, signal, scope } = options;
  const endMs = performance.now() + timeFor(work.deadlineMs, timing, 10_000);
  forget();
  while (signal?.aborted !== true) {
    const observation = await options.observe(work.nodes);
    const missing = missingIn(observation, work, scope.desired);
    if (missing.length === 0) return { observation };
    if (performance.now() >= endMs) {
      const failed = [...new Set(missing.flatMap(({ fails }) => fails))];
      return { observation, failed, diagnostics: missing.map((one) => waitOver(one, work.deadlineMs)) };
    }
    const texts = missing.map(({ node, why }) => `${node} (${why.replace(/\.$/, '')})`);
    options.onWait?.(texts, endMs - performance.now());
    await pause(timing.gatePollMs, signal);
  }
  return {};
}

function missingIn(observation: FleetObservation, work: WaitWork, desired: DesiredFleet): readonly Missing[] {
  const unseen = work.nodes.flatMap((node): readonly Missing[] => {
    const [problem] = observation.failures[node] ?? [];
    return problem === undefined ? [] : [{ node, why: problem.summary, fails: [node] }];
  });
  if (work.for === 'observed') return unseen;
  const meant = whereTheyRanLast(desired, observation.nodes).placements;
  const lacking = meant
    .filter(({ name }) => work.placements.includes(name))
    .map(({ name, ...placement }) => {
      const goal = { kind: 'start', placements: [name] } as const;
      const { changes, waiting } = makePlan({ goal, desired, observation, targets: work.nodes });
      // Any of these nodes may be its leader, and a batch may contain only one of them.
      const fails = everyNode(placement);
      const missing = [
        ...changes.map(({ node, resource, from }): Missing => ({ node, why: `${resource}: ${from}`, fails })),
        ...waiting.map(
          ({ node, resource, for: reasons }): Missing => ({
            node,
            why: `${resource}: ${reasons.map(({ text }) => text).join(', ')}`,
            fails,
          }),
        ),
      ];
      return { nodes: placement.nodes, missing };
    })
    .filter(({ missing }) => missing.length > 0);
  // An unreached node of a different layout does not block serving.
  const away = unseen.filter(({ node }) => lacking.some(({ nodes }) => nodes.includes(node)));
  return [...lacking.flatMap(({ missing }) => missing), ...away];
}

const waitOver = ({ node, why }: Missing, deadlineMs: number): Diagnostic =>
  diagnose('task/wait-over', {
    subject: nodeSubject(node),
    detail: prose`${named(node)}, after ${Math.round(deadlineMs / 1_000)} s: ${why}`,
  });
