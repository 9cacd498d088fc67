import { isDeepStrictEqual } from 'node:util';
import { everyNode, nodesToSee } from '../desired/layouts.ts';
import { diagnose } from '../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../diagnostics/diagnostic.ts';
import { withUndrained } from '../engine/goals/drain.ts';
import { makePlan } from '../engine/plan/make-plan.ts';
import type { Plan } from '../engine/plan/plan.ts';
import { seenProperties } from '../engine/plan/view.ts';
import { batchesOf } from '../engine/playbooks/batches.ts';
import {
  blockerDeadlineMs,
  expandTask,
  type LaterTask,
  laterTasks,
  nodesOfPlays,
  onPlacements,
  playNodes,
  type TaskWork,
  tasksOf,
} from '../engine/playbooks/expand.ts';
import type { Play, Playbook, Task } from '../engine/playbooks/playbook.ts';
import { obstaclesIn, undrainedIn } from '../engine/playbooks/ready.ts';
import { canonicalJson, type Json } from '../model/digest.ts';
import { given } from '../model/given.ts';
import type { Known } from '../model/known.ts';
import { type NodeName, nodeName } from '../model/node.ts';
import { isSameSubject, nodeSubject } from '../model/subject.ts';
import { named, prose } from '../model/text/prose.ts';
import type { FleetObservation } from '../rack/examination.ts';
import { type Goal, restartedNodes } from '../rack/goal.ts';
import { propertyKey } from '../rack/resource.ts';
import { executeSteps, isDone } from './execute.ts';
import { foreseen } from './foreseen.ts';
import {
  beginPlan,
  closeRun,
  type OpenRun,
  openRun,
  type RunReport,
  reportOf,
  runCommands,
  stepOptions,
} from './open-run.ts';
import type {
  PerformedWork,
  PlaybookOptions,
  PlaybookPlace,
  PlaybookReport,
  PlaybookWork,
  ShownPlan,
} from './playbook-report.ts';
import { pause, timeFor } from './run-timing.ts';
import { bake, waitFor } from './wait-tasks.ts';

interface PlaybookState {
  readonly options: PlaybookOptions;
  readonly works: PlaybookWork[];
  /** Opened before the first request is sent. */
  run?: OpenRun;
  /** The last observation; removed when a task may have changed the nodes. */
  seen?: { readonly nodes: ReadonlySet<NodeName>; readonly observation: FleetObservation };
  first: PlaybookOptions['first'];
  /** True if a plan was approved. */
  hasRun: boolean;
  isStopped: boolean;
  isDeclined: boolean;
  refusal: Diagnostic[];
}

/**
 * Runs a playbook's tasks, play after play and batch after batch, with one journal, and with one lease and one
 * connection per node from the first change to the end. A failed node is skipped in the rest of its play.
 * @throws FleetError `journal/cannot-write` before anything is sent, if the first plan is refused; and any error of
 * `observe`
 */
export async function runPlaybook({ plays }: Playbook, options: PlaybookOptions): Promise<PlaybookReport> {
  const { scope, first, seen, foresee, checksBaked, signal, onWork } = options;
  const begun = { hasRun: first !== undefined, isStopped: false, isDeclined: false, refusal: [] };
  const state: PlaybookState = { options, works: [], first, ...begun, ...given({ seen: seen && seenNodes(seen) }) };
  try {
    if (foresee !== undefined)
      state.isDeclined = !(await foresee(await foreseen(plays, scope, (names) => observeOnce(names, state))));
    for (const { place, later, members, failed } of turnsOf(plays, state)) {
      const task = expandTask(place.task, scope, place.nodes, later);
      const done = await runnerOf(task.kind)(task, state, place);
      const work = workOf(place, done, foresee !== undefined);
      state.isDeclined ||= done.isDeclined === true;
      state.isStopped ||= done.isEnd === true;
      state.works.push(work);
      await onWork?.(work, state.run?.keeper.lost ?? neverLost);
      members.filter((node) => work.failed.includes(node)).forEach((node) => void failed.add(node));
    }
    await close(state);
    const nodes = nodesOfPlays(plays, scope);
    if (checksBaked === true) await bakeAgain(state, nodes);
    const isInterrupted = signal?.aborted === true;
    const hasNoWork = foresee !== undefined && state.works.length === 0;
    const observation = isInterrupted || hasNoWork ? undefined : await observeOnce(nodes, state);
    const { works, isStopped, isDeclined, refusal } = state;
    return { works, nodes, ...given({ observation }), isStopped, isDeclined, isInterrupted, refusal };
  } finally {
    await close(state);
    await options.end?.();
  }
}

async function close(state: PlaybookState): Promise<void> {
  const { run } = state;
  delete state.run;
  if (run !== undefined) await closeRun(run);
}

/** The final observation: a Mac can be lost while later batches run, so what the last play has baked must still serve. */
async function bakeAgain(state: PlaybookState, nodes: readonly NodeName[]): Promise<void> {
  const { works, options } = state;
  const last = works.at(-1)?.play;
  const baked = works.filter(({ task, play, failed }) => task.kind === 'bake' && play === last && failed.length === 0);
  const members = baked.flatMap((work) => work.nodes);
  const { placements } = onPlacements(undefined, options.scope, members);
  if (placements.length === 0) return;
  const done = await bake({ kind: 'bake', ms: 0, nodes, placements }, options);
  if (done.observation !== undefined) state.seen = { nodes: new Set(nodes), observation: done.observation };
  for (const { play, batch, task, nodes: own } of baked) {
    const failed = own.filter((node) => done.failed?.includes(node));
    if (failed.length > 0) works.push(workOf({ play, batch, task, nodes: own }, { ...done, failed }, true));
  }
}

/** A task for a batch. The turns of a play share its failed nodes. */
interface Turn {
  readonly place: PlaybookPlace;
  readonly later: readonly LaterTask[];
  readonly members: readonly NodeName[];
  readonly failed: Set<NodeName>;
}

/** One task after another, each chosen when the one before has ended; stops if more nodes failed than a play allows. */
function* turnsOf(plays: readonly Play[], state: PlaybookState): Generator<Turn> {
  const { scope } = state.options;
  for (const [play, of] of plays.entries()) {
    const failed = new Set<NodeName>();
    for (const [batch, members] of batchesOf(of, playNodes(of, scope), scope.desired).entries()) {
      const about = { play, batch, members, failed };
      yield* batchTurns(plays, state, { ...about, tasks: tasksOf(of), skipped: failed });
      const isRescued = members.some((node) => failed.has(node));
      if (isRescued) yield* batchTurns(plays, state, { ...about, tasks: of.rescue ?? [], skipped: new Set() });
      if (failed.size > of.maxFailures) state.isStopped = true;
    }
  }
}

interface BatchTasks extends Pick<PlaybookPlace, 'play' | 'batch'>, Pick<Turn, 'members' | 'failed'> {
  readonly tasks: readonly Task[];
  readonly skipped: ReadonlySet<NodeName>;
}

function* batchTurns(
  plays: readonly Play[],
  state: PlaybookState,
  { play, batch, members, failed, tasks, skipped }: BatchTasks,
): Generator<Turn> {
  for (const [index, task] of tasks.entries()) {
    const nodes = stillChosen(plays[play]?.nodes, members, state).filter((node) => !skipped.has(node));
    if (isOver(state) || nodes.length === 0) return;
    const later = laterTasks(plays, { play, nodes, tasks: tasks.slice(index + 1) }, state.options.scope);
    yield { place: { play, batch, task, nodes }, later, members, failed };
  }
}

/** The members of a batch that the labels in the file still choose. Nothing was agreed about a node that joined. */
function stillChosen(
  choice: Play['nodes'] | undefined,
  members: readonly NodeName[],
  state: PlaybookState,
): readonly NodeName[] {
  const { refusal, options } = state;
  const { labelledNow } = options;
  if (choice?.kind !== 'labels' || labelledNow === undefined || isOver(state)) return members;
  let now: readonly NodeName[];
  try {
    now = labelledNow(choice.labels);
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    refusal.push(...error.diagnostics);
    state.isStopped = true;
    return members;
  }
  for (const node of members.filter((one) => !now.includes(one))) {
    const subject = nodeSubject(node);
    const detail = prose`${named(node)} no longer matches ${choice.labels.join(', ')}, so it was left out.`;
    const isNew = !refusal.some((one) => isSameSubject(one.subject, subject));
    if (isNew) refusal.push(diagnose('playbook/label-removed', { subject, detail }));
  }
  return members.filter((node) => now.includes(node));
}

/** Used by runs without leases. */
const neverLost = new AbortController().signal;

const isOver = ({ options, isStopped, isDeclined }: PlaybookState): boolean =>
  isStopped || isDeclined || options.signal?.aborted === true;

/** @param isStrict true if a node whose result is unknown counts as failed */
function workOf(place: PlaybookPlace, { plan, observation, run, ...done }: DoneWork, isStrict: boolean): PlaybookWork {
  const unknown = isStrict && plan !== undefined ? unknownIn(plan) : new Map<NodeName, Diagnostic>();
  const problems = done.diagnostics ?? run?.diagnostics ?? [];
  return {
    ...place,
    ...given({ plan, observation, run, isByHand: done.isByHand }),
    failed: [...new Set([...(done.failed ?? []), ...unknown.keys()])],
    refusals: done.refusals ?? run?.refusals ?? [],
    diagnostics: [...problems, ...unknown.values()],
  };
}

const seenNodes = (observation: FleetObservation) => ({
  nodes: new Set(Object.values(observation.nodes).map(({ node }) => node)),
  observation,
});

/** The nodes that a plan could not judge, each with its first reason. */
function unknownIn({ unreached = {}, waiting }: Plan): ReadonlyMap<NodeName, Diagnostic> {
  const reasons = [
    ...Object.entries(unreached).map(([node, { reason }]) => ({ node: nodeName(node), reason })),
    ...waiting
      .filter(({ isUnknown }) => isUnknown)
      .map(({ node, resource, for: all }) => ({
        node,
        reason: `${resource}: ${all.map(({ text }) => text).join(', ')}`,
      })),
  ];
  return new Map(
    reasons
      .toReversed()
      .map(({ node, reason }) => [
        node,
        diagnose('task/unknown', { subject: nodeSubject(node), detail: prose`${named(node)}: ${reason}` }),
      ]),
  );
}

/** The last observation if it is still valid and covers these nodes; otherwise a fresh one. */
async function observeOnce(nodes: readonly NodeName[], state: PlaybookState): Promise<FleetObservation> {
  const { seen, options } = state;
  if (seen !== undefined && nodes.every((node) => seen.nodes.has(node))) return seen.observation;
  const observation = await options.observe(nodes);
  state.seen = { nodes: new Set(nodes), observation };
  return observation;
}

/** Returns the plan that was shown before the run, only once; its observation is still valid. */
function takeFirst(state: PlaybookState, { nodes }: PlaybookPlace): ShownPlan | undefined {
  const { first } = state;
  state.first = undefined;
  if (first?.observation) state.seen = { nodes: new Set(nodes), observation: first.observation };
  return first;
}

function openedRun(state: PlaybookState): OpenRun {
  state.run ??= openRun(state.options.run());
  return state.run;
}

/** After the first change, a refusal ends the run without an exception so that the result is still reported. */
async function unlessRefused(state: PlaybookState, ask: () => Promise<boolean>): Promise<boolean> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof FleetError) || !state.hasRun) throw error;
    state.refusal.push(...error.diagnostics);
    return false;
  }
}

interface DoneWork extends Partial<Omit<PlaybookWork, keyof PlaybookPlace>> {
  readonly isDeclined?: boolean;
  /** The playbook must stop because a lease was refused or lost, or the run was interrupted. */
  readonly isEnd?: boolean;
}

type WorkOf<K extends TaskWork['kind']> = Extract<TaskWork, { readonly kind: K }>;
type Runner<K extends TaskWork['kind']> = (
  work: WorkOf<K>,
  state: PlaybookState,
  place: PlaybookPlace,
) => Promise<DoneWork>;

const runners: { readonly [K in TaskWork['kind']]: Runner<K> } = {
  plan: planAndRun,
  verify,
  ready,
  wait: (work, state) => {
    delete state.seen;
    return waitFor(work, state.options);
  },
  bake: (work, state) => {
    delete state.seen;
    return bake(work, state.options);
  },
  assert: assertProperty,
  confirm,
  pause: pauseRun,
  run: runOwn,
  recover: perform,
  upgrade: perform,
  bench: perform,
  notify: perform,
};

const runnerOf = (kind: TaskWork['kind']) => runners[kind] as Runner<TaskWork['kind']>;

async function planFor(goal: Goal, targets: readonly NodeName[], state: PlaybookState): Promise<Required<ShownPlan>> {
  const { desired } = state.options.scope;
  const observation = await observeOnce(targets, state);
  return { plan: makePlan({ goal, desired, observation, targets }), observation };
}

/**
 * Makes a plan for a goal, gets approval, takes the leases and runs the steps. A stale plan is made and shown again,
 * which ends because the run then has the leases. After a plan that only rolled back network changes, a second plan
 * follows for the resulting state.
 */
async function planAndRun(
  { goal, targets }: WorkOf<'plan'>,
  state: PlaybookState,
  place: PlaybookPlace,
): Promise<DoneWork> {
  const { desired } = state.options.scope;
  let earlier: RolledBackWork | undefined;
  for (;;) {
    const first = takeFirst(state, place);
    const shown = first ?? (await planFor(goal, targets, state));
    const { plan } = shown;
    const seen = { desired, observation: shown.observation ?? unseen, observed: plan.observed };
    const blockedBefore = [...blockedNodes(plan), ...unreachedOf(goal, plan)];
    const blocked = goal.kind === 'converge' ? [] : withUndrained(blockedBefore, goal, seen);
    if (state.options.signal?.aborted === true) return merged(earlier, shown);
    if (plan.steps.every(({ act }) => act.kind === 'hands')) return merged(earlier, { ...shown, failed: blocked });
    const isApproved = first !== undefined || (await unlessRefused(state, () => state.options.approve(plan, place)));
    if (!isApproved) return merged(earlier, { ...shown, isDeclined: true });
    state.hasRun = true;
    delete state.seen;
    const run = openedRun(state);
    const isStale = (observation: FleetObservation): boolean =>
      !isDeepStrictEqual(makePlan({ goal, desired, observation, targets }).observed, plan.observed);
    const refused = await beginPlan(plan, run, { nodes: nodesToSee(desired, targets), isStale });
    const report = refused ?? reportOf(run, await executeSteps(plan, stepOptions(plan, run)));
    if (report.isStale === true) continue;
    const failed = [...withUndrained(failedNodes(plan, report), goal, seen), ...blocked];
    const done = { ...shown, run: report, failed: [...new Set(failed)], isEnd: isEnd(report) };
    if (earlier !== undefined || !hasRolledBack(done)) return merged(earlier, done);
    earlier = done;
  }
}

/** True if the run rolled back all unconfirmed network changes in the plan. */
function hasRolledBack(done: DoneWork): done is RolledBackWork {
  const transactions = (done.run?.steps ?? []).filter(({ step }) => step.resource === 'transaction');
  return transactions.length > 0 && transactions.every(isDone) && done.isEnd !== true;
}

type RolledBackWork = DoneWork & { readonly plan: Plan; readonly run: RunReport };

function merged(earlier: RolledBackWork | undefined, done: DoneWork): DoneWork {
  if (earlier === undefined) return done;
  const { plan: before, run: ran } = earlier;
  const { plan = before, run = { ...ran, steps: [], diagnostics: [] } } = done;
  return {
    ...done,
    plan: { ...plan, changes: [...before.changes, ...plan.changes], steps: [...before.steps, ...plan.steps] },
    run: { ...run, steps: [...ran.steps, ...run.steps], diagnostics: [...ran.diagnostics, ...run.diagnostics] },
  };
}

/** For saved plans, which have no observation. */
const unseen: FleetObservation = { nodes: {}, failures: {} };

/** Nodes where something blocks the command count as failed. */
const blockedNodes = ({ waiting, blockers }: Plan): readonly NodeName[] => [
  ...waiting.map(({ node }) => node),
  ...blockers.flatMap(({ node, peers }) => [node, ...peers]),
];

/** The Macs to restart that were not reached, so that nothing waits for their return. */
const unreachedOf = (goal: Goal, { observed }: Plan): readonly NodeName[] =>
  restartedNodes(goal).filter((node) => !Object.hasOwn(observed, node));

const isEnd = (run: Pick<RunReport, 'refusals' | 'isLeaseLost' | 'isInterrupted'>): boolean =>
  run.refusals.length > 0 || run.isLeaseLost || run.isInterrupted;

/** The nodes of failed steps, and their peers. */
function failedNodes({ steps }: Plan, run: RunReport): readonly NodeName[] {
  const own = new Set(steps.map(({ id }) => id));
  const bad = run.steps.filter((one) => own.has(one.step.id) && one.step.act.kind !== 'hands' && !isDone(one));
  return [...new Set(bad.flatMap(({ step }) => [step.node, ...step.peers]))];
}

/** Fails if a fresh plan contains changes. Manual steps and unobserved facts do not count. */
async function verify({ targets }: WorkOf<'verify'>, state: PlaybookState): Promise<DoneWork> {
  const shown = await planFor({ kind: 'converge' }, targets, state);
  const diagnostics = shown.plan.changes.map(({ resource, node, from, to }) =>
    diagnose('task/still-different', {
      subject: nodeSubject(node),
      detail: prose`${resource} on ${named(node)}: expected ${to}, found ${from}.`,
    }),
  );
  return { ...shown, diagnostics, failed: [...new Set(shown.plan.changes.map(({ node }) => node))] };
}

/**
 * Ends the playbook unless the batch may begin. Nothing of the batch was changed. Before the first batch, no placement
 * of the whole play may hang, because the play would then end halfway.
 */
async function ready(work: WorkOf<'ready'>, state: PlaybookState, { task, batch }: PlaybookPlace): Promise<DoneWork> {
  const { scope, timing } = state.options;
  const { desired } = scope;
  const isFirst = batch === 0 && task.kind === 'ready';
  const whole = isFirst ? expandTask(task, scope, playNodes(task.play, scope)) : work;
  const all = whole.kind === 'ready' ? whole : work;
  const observation = await observeOnce(all.nodes, state);
  const obstacles = [
    ...obstaclesIn(work, { observation, desired, epochMs: Date.now() }),
    ...undrainedIn(all, { observation, desired }),
  ];
  state.refusal.push(...obstacles);
  if (obstacles.length > 0) return { observation, isDeclined: true };
  if (work.commands.length === 0) return { observation };
  const report = await runCommands(work.commands, timeFor(blockerDeadlineMs, timing, 30_000), openedRun(state));
  state.refusal.push(
    ...report.diagnostics.map(({ subject, detail }) => diagnose('task/blocked', { ...given({ subject }), detail })),
  );
  return { observation, refusals: report.refusals, isEnd: isEnd(report), isDeclined: report.failed.length > 0 };
}

/** A recovery or upgrade takes leases of its own, so this run gives up its own first. */
async function perform(work: PerformedWork, state: PlaybookState): Promise<DoneWork> {
  const { perform: act, scope } = state.options;
  if (act === undefined) throw new Error(`no command for the task ${work.kind}`);
  delete state.seen;
  if (work.kind === 'recover' || work.kind === 'upgrade') await close(state);
  const { failed: names, nodes = [], ...rest } = await act(work);
  const failed = scope.desired.placements.filter(({ name }) => names.includes(name)).flatMap(everyNode);
  return { failed: [...new Set([...failed, ...nodes])], ...rest };
}

async function assertProperty(work: WorkOf<'assert'>, state: PlaybookState): Promise<DoneWork> {
  const { property, is, says, nodes } = work;
  const observation = await observeOnce(nodes, state);
  const seen = seenProperties(state.options.scope.desired, observation);
  const values = nodes.map((node) => ({ node, value: seen.get(propertyKey({ node, address: property })) }));
  // Nodes without the property do not count, unless all of them lack it.
  const found = values.some(({ value }) => value !== undefined) ? values.filter(({ value }) => value) : values;
  const wrong = found.filter(
    ({ value }) => value?.kind !== 'known' || canonicalJson(value.value) !== canonicalJson(is),
  );
  const diagnostics = wrong.map(({ node, value }) =>
    diagnose('task/assert-failed', {
      subject: nodeSubject(node),
      detail: prose`${says === undefined ? '' : `${says} `}${property} on ${named(node)}: expected ${canonicalJson(is)}, ${foundText(value)}.`,
    }),
  );
  return { observation, failed: wrong.map(({ node }) => node), diagnostics };
}

function foundText(value: Known<Json> | undefined): string {
  if (value === undefined) return 'but the node has no such property';
  return value.kind === 'known' ? `found ${canonicalJson(value.value)}` : `but it is unknown: ${value.detail}`;
}

async function confirm({ text }: WorkOf<'confirm'>, state: PlaybookState, place: PlaybookPlace): Promise<DoneWork> {
  // A person may take an hour to answer.
  delete state.seen;
  return { isDeclined: !(await unlessRefused(state, () => state.options.confirm(text, place))) };
}

/** Keeps the leases that the run has. Ctrl-C ends the pause and the run. */
async function pauseRun({ ms }: WorkOf<'pause'>, state: PlaybookState): Promise<DoneWork> {
  const { timing, signal, onWait } = state.options;
  delete state.seen;
  const endMs = performance.now() + timeFor(ms, timing, 0);
  for (
    let leftMs = endMs - performance.now();
    leftMs > 0 && signal?.aborted !== true;
    leftMs = endMs - performance.now()
  ) {
    onWait?.(['the pause to end'], leftMs);
    await pause(Math.min(leftMs, timing.gatePollMs), signal);
  }
  return {};
}

async function runOwn(work: WorkOf<'run'>, state: PlaybookState): Promise<DoneWork> {
  delete state.seen;
  const deadlineMs = timeFor(work.deadlineMs, state.options.timing, 30_000);
  const report = await runCommands(work.commands, deadlineMs, openedRun(state));
  const { failed, refusals, diagnostics } = report;
  return { failed, refusals, diagnostics, isEnd: isEnd(report) };
}
