import { isDeepStrictEqual } from 'node:util';
import { everyNode, nodesToSee } from '../desired/layouts.ts';
import { diagnose } from '../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../diagnostics/diagnostic.ts';
import { withUndrained } from '../engine/goals/drain.ts';
import { makePlan } from '../engine/plan/make-plan.ts';
import type { EffectTotal, Plan } from '../engine/plan/plan.ts';
import { seenProperties } from '../engine/plan/view.ts';
import {
  batchesOf,
  expandTask,
  inFleetOrder,
  type LaterTask,
  nodesOfPlays,
  type PlayScope,
  playNodes,
  type TaskWork,
} from '../engine/playbooks/expand.ts';
import type { Play, Playbook } from '../engine/playbooks/playbook.ts';
import type { DesiredFleet } from '../model/desired.ts';
import { canonicalJson, type Json } from '../model/digest.ts';
import { given } from '../model/given.ts';
import type { Known } from '../model/known.ts';
import type { NodeName } from '../model/node.ts';
import { nodeSubject } from '../model/subject.ts';
import { named, prose } from '../model/text/prose.ts';
import type { FleetObservation } from '../rack/examination.ts';
import { type Goal, restartedNodes } from '../rack/goal.ts';
import { whereTheyRanLast } from '../rack/placement/state/layouts.ts';
import { propertyKey } from '../rack/resource.ts';
import { executeSteps, isDone } from './execute.ts';
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
import type { PlaybookOptions, PlaybookPlace, PlaybookReport, PlaybookWork, ShownPlan } from './playbook-report.ts';
import { pause, timeFor } from './run-timing.ts';

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
  refusal: readonly Diagnostic[];
}

/**
 * Runs a playbook's tasks, play after play and batch after batch, with one journal, and with one lease and one
 * connection per node from the first change to the end. A failed node is skipped in the rest of its play.
 * @throws FleetError `journal/cannot-write` before anything is sent, if the first plan is refused; and any error of
 * `observe`
 */
export async function runPlaybook({ plays }: Playbook, options: PlaybookOptions): Promise<PlaybookReport> {
  const { scope, first, seen, foresee, signal, onWork } = options;
  const begun = { hasRun: first !== undefined, isStopped: false, isDeclined: false, refusal: [] };
  const state: PlaybookState = { options, works: [], first, ...begun, ...given({ seen: seen && seenNodes(seen) }) };
  try {
    if (foresee !== undefined) foresee(await effectsAhead(plays, state));
    for (const { of, failed, members, index, ...turn } of turnsOf(plays, scope)) {
      const nodes = members.filter((node) => !failed.has(node));
      if (!isOver(state) && nodes.length > 0) {
        const place = { ...turn, nodes };
        const task = expandTask(turn.task, scope, nodes, laterTasks(plays, { ...place, index }, scope));
        const done = await runnerOf(task.kind)(task, state, place);
        const work = workOf(place, done);
        state.isDeclined ||= done.isDeclined === true;
        state.isStopped ||= done.isEnd === true;
        state.works.push(work);
        await onWork?.(work, state.run?.keeper.lost ?? neverLost);
        members.filter((node) => work.failed.includes(node)).forEach((node) => void failed.add(node));
      }
      if (index === of.tasks.length - 1 && failed.size > of.maxFailures) state.isStopped = true;
    }
    await close(state);
    const nodes = nodesOfPlays(plays, scope);
    const isInterrupted = signal?.aborted === true;
    const observation = isInterrupted ? undefined : await observeOnce(nodes, state);
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

/** All tasks in order, each with a batch from its play. The turns of a play share its failed nodes. */
const turnsOf = (plays: readonly Play[], scope: PlayScope) =>
  plays.flatMap((of, play) => {
    const failed = new Set<NodeName>();
    return batchesOf(of, playNodes(of, scope)).flatMap((members, batch) =>
      of.tasks.map((task, index) => ({ of, play, batch, task, index, members, failed })),
    );
  });

/** The effects of all tasks' plans, each based on the nodes' current state. */
async function effectsAhead(plays: readonly Play[], state: PlaybookState): Promise<readonly EffectTotal[]> {
  const { scope } = state.options;
  const works = plays.flatMap((one, play) => {
    const nodes = playNodes(one, scope);
    return one.tasks.map((task, index) =>
      expandTask(task, scope, nodes, laterTasks(plays, { play, index, nodes }, scope)),
    );
  });
  const plans = works.filter((work) => work.kind === 'plan');
  const names = inFleetOrder(
    plans.flatMap(({ targets }) => targets),
    scope,
  );
  if (names.length === 0) return [];
  const observation = await observeOnce(names, state);
  return plans.flatMap(({ goal, targets }) => makePlan({ goal, desired: scope.desired, observation, targets }).effects);
}

/** Used by runs without leases. */
const neverLost = new AbortController().signal;

const isOver = ({ options, isStopped, isDeclined }: PlaybookState): boolean =>
  isStopped || isDeclined || options.signal?.aborted === true;

/** The remaining tasks of a play for these nodes, followed by those of later plays. */
function laterTasks(
  plays: readonly Play[],
  { play, index, nodes }: Pick<PlaybookPlace, 'play' | 'nodes'> & { readonly index: number },
  scope: PlayScope,
): readonly LaterTask[] {
  const own = plays[play]?.tasks.slice(index + 1).map((task) => ({ task, nodes })) ?? [];
  const others = plays
    .slice(play + 1)
    .flatMap((one) => one.tasks.map((task) => ({ task, nodes: playNodes(one, scope) })));
  return [...own, ...others];
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

const seenNodes = (observation: FleetObservation) => ({
  nodes: new Set(Object.values(observation.nodes).map(({ node }) => node)),
  observation,
});

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
    state.refusal = error.diagnostics;
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
  wait: waitFor,
  assert: assertProperty,
  confirm,
  pause: pauseRun,
  run: runOwn,
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

type WaitWork = WorkOf<'wait'>;

/** An unmet condition and the nodes that do not meet it. */
interface Missing {
  readonly node: NodeName;
  readonly why: string;
  readonly fails: readonly NodeName[];
}

/** Observes repeatedly until all conditions are met or the deadline has passed; empty if interrupted. */
export async function waitFor(
  work: WaitWork,
  state: Pick<PlaybookState, 'seen'> & { readonly options: WaitOptions & Pick<PlaybookOptions, 'scope'> },
): Promise<DoneWork> {
  delete state.seen;
  const { desired } = state.options.scope;
  const waited = await waitUntil(work, state.options, (observation) => missingIn(observation, work, desired));
  if (waited === undefined) return {};
  const { observation, missing } = waited;
  const failed = [...new Set(missing.flatMap(({ fails }) => fails))];
  return { observation, failed, diagnostics: missing.map((one) => waitOver(one, work.deadlineMs)) };
}

type WaitOptions = Pick<PlaybookOptions, 'timing' | 'signal' | 'observe' | 'onWait'>;

/** Observes until nothing is missing or the deadline has passed; resolves to the last check, or undefined on abort. */
export async function waitUntil<M extends { readonly node: string; readonly why: string }>(
  { nodes, deadlineMs }: Pick<WaitWork, 'nodes' | 'deadlineMs'>,
  { timing, signal, observe, onWait }: WaitOptions,
  missingIn: (observation: FleetObservation) => readonly M[],
): Promise<{ readonly observation: FleetObservation; readonly missing: readonly M[] } | undefined> {
  const endMs = performance.now() + timeFor(deadlineMs, timing, 10_000);
  while (signal?.aborted !== true) {
    const observation = await observe(nodes);
    const missing = missingIn(observation);
    if (missing.length === 0 || performance.now() >= endMs) return { observation, missing };
    const texts = missing.map(({ node, why }) => `${node} (${why.replace(/\.$/, '')})`);
    onWait?.(texts, endMs - performance.now());
    await pause(timing.gatePollMs, signal);
  }
  return undefined;
}

function missingIn(observation: FleetObservation, work: WaitWork, desired: DesiredFleet): readonly Missing[] {
  const unseen = work.nodes.flatMap((node): readonly Missing[] => {
    const [problem] = observation.failures[node] ?? [];
    return problem === undefined ? [] : [{ node, why: problem.summary, fails: [node] }];
  });
  if (work.for === 'observed') return unseen;
  const lacking = whereTheyRanLast(desired, observation.nodes)
    .placements.filter(({ name }) => work.placements.includes(name))
    .map(({ name, ...placement }) => {
      const goal = { kind: 'start', placements: [name] } as const;
      const { changes, waiting } = makePlan({ goal, desired, observation, targets: work.nodes });
      // Any of these nodes can be the leader, and a batch may contain only one of them.
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
  // An unreached node in a different layout does not prevent serving.
  const away = unseen.filter(({ node }) => lacking.some(({ nodes }) => nodes.includes(node)));
  return [...lacking.flatMap(({ missing }) => missing), ...away];
}

const waitOver = ({ node, why }: Missing, deadlineMs: number): Diagnostic =>
  diagnose('task/wait-over', {
    subject: nodeSubject(node),
    detail: prose`${named(node)}, after ${Math.round(deadlineMs / 1_000)} s: ${why}`,
  });
