import { diagnose } from '../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError, hasTrait } from '../diagnostics/diagnostic.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { plainText } from '../diagnostics/prose-text.ts';
import type { Plan, StepReport } from '../engine/plan/plan.ts';
import { planJson } from '../engine/plan/plan-json.ts';
import type { NodeCommand } from '../engine/playbooks/expand.ts';
import type { DesiredNode } from '../model/desired.ts';
import { digestOf, shortDigest } from '../model/digest.ts';
import { given } from '../model/given.ts';
import type { NodeName } from '../model/node.ts';
import { exitText, isSuccess } from '../model/probe.ts';
import type { Step, StepProgress } from '../model/step.ts';
import { isSameSubject, nodeSubject } from '../model/subject.ts';
import { labelled, named, prose } from '../model/text/prose.ts';
import { quote } from '../node/quote.ts';
import type { FleetObservation } from '../rack/examination.ts';
import { makeKeyPair } from '../remote/keys/exchange-key.ts';
import { forEachLimited } from '../remote/limit-parallel.ts';
import { onAbort } from '../remote/on-abort.ts';
import { printedText } from '../remote/remote.ts';
import type { ExecuteOptions, StepStart } from './execute.ts';
import type { Journal, JournalEntry } from './journal/journal.ts';
import { type Controller, claimOf } from './lease/controller.ts';
import {
  createLeaseKeeper,
  type LeaseChange,
  type LeaseKeeper,
  type LeaseRefusal,
  leaseHeld,
} from './lease/lease-keeper.ts';
import { once } from './once.ts';
import { meterFor, type TransferMeter } from './progress/transfer-meter.ts';
import { observeSessions } from './reach/observe.ts';
import { type NodeTarget, openSession, type Session, type SshTarget, type UseLimits } from './reach/session.ts';
import type { RunListener } from './run-events.ts';
import type { StepContext } from './steps/context.ts';
import { runStep } from './steps/run-step.ts';

/** An open run: one journal for all its plans, and one connection and one lease per node. */
export interface OpenRun {
  readonly options: RunOptions;
  readonly ways: ReadonlyMap<NodeName, SshTarget>;
  readonly sessions: Map<NodeName, Session>;
  readonly keeper: LeaseKeeper;
  /** Aborts when the journal cannot be written. */
  readonly halted: AbortController;
  readonly problems: Diagnostic[];
  readonly peerKey: string;
  readonly exchangeKeys: StepContext['exchangeKeys'];
  readonly meters: Map<Step, TransferMeter>;
}

/**
 * Opens a run and sends nothing before its first plan. The nodes' leases are the only lock, even against another run
 * from the same state folder.
 * @throws FleetError `journal/cannot-write`
 */
export function openRun(options: RunOptions): OpenRun {
  const { journal, verb, controller, desired, timing, leaseWaitMs, signal, deadlineMs } = options;
  journal.write({ phase: 'run', cluster: desired.name, verb, controller: controller.name });
  const since = new Date().toISOString();
  const keeper = createLeaseKeeper({
    claim: claimOf(controller, { run: journal.runId, verb, phase: 'starting', since }),
    controller,
    timing,
    waitMs: leaseWaitMs,
    askMs: deadlineMs,
    ...given({ signal }),
    session: (node) => sessionOf(run, node),
    onChange: (change) => recordLease(run, change),
  });
  const ways = new Map(options.ways.map(({ node, way }) => [node, way]));
  const run: OpenRun = {
    options,
    ways,
    sessions: new Map(),
    keeper,
    halted: new AbortController(),
    problems: [],
    peerKey: options.newBoundary() + options.newBoundary(),
    exchangeKeys: once(makeKeyPair),
    meters: new Map(),
  };
  return run;
}

export async function closeRun(run: OpenRun): Promise<void> {
  await run.keeper.release();
  record(run, { phase: 'end', isInterrupted: isInterrupted(run) });
  for (const session of run.sessions.values()) session.close();
  run.options.onEvent({ kind: 'run-ended' });
}

/** A check under the leases for whether a plan is stale. */
interface StaleCheck {
  readonly nodes: readonly Pick<DesiredNode, 'name'>[];
  readonly isStale: (observation: FleetObservation) => boolean;
}

/**
 * Records a plan and takes its missing leases; manual steps need none. Returns a report if the plan may not start. With
 * `second` it observes the nodes again if another run had a lease before, or if a node has restarted since its
 * observation. Rejects only for bugs and with errors from `onLeased`.
 */
export async function beginPlan(plan: Plan, run: OpenRun, second: StaleCheck): Promise<RunReport | undefined> {
  const { options, keeper } = run;
  const nodes = leasedNodes(plan);
  if (nodes.length === 0) return undefined;
  recordPlan(plan, run);
  options.onEvent({ kind: 'run-started', runId: options.journal.runId, nodes });
  const taken = await keeper.take(nodes, plan.observed);
  if (taken.kind !== 'taken') {
    const outcome = taken.kind === 'refused' ? 'skipped' : 'interrupted';
    return reportOf(run, notBegun(plan, outcome), taken.kind === 'refused' ? taken.refusals : []);
  }
  const isStale = taken.isInDoubt && (await hasChanged(second, run));
  if (isStale) return { ...reportOf(run, notBegun(plan, 'skipped')), isStale };
  if (!isInterrupted(run)) await options.onLeased?.();
  return undefined;
}

export function stepOptions(plan: Plan, run: OpenRun): ExecuteOptions<StepContext> {
  const { parallel, timing, signal, onEvent } = run.options;
  return {
    begin: (step, start) => beginStep(step, start, plan, run),
    run: runStep,
    parallel,
    ...given({ abort: signal }),
    forbidden: run.keeper.lost,
    halted: run.halted.signal,
    abortMs: timing.abortMs,
    onAbort: () => onEvent({ kind: 'interrupted' }),
    onEnd: (report) => recordEnd(report, run),
    onRescue: (group) => onEvent({ kind: 'rescue-started', group }),
  };
}

const notBegun = ({ steps }: Plan, outcome: 'skipped' | 'interrupted'): readonly StepReport[] =>
  steps.map((step): StepReport => ({ step, outcome, diagnostics: [], ms: 0 }));

async function hasChanged({ nodes, isStale }: StaleCheck, run: OpenRun): Promise<boolean> {
  const { deadlineMs, newBoundary } = run.options;
  const sessions = nodes.map(({ name }) => sessionOf(run, name));
  return isStale(await observeSessions(sessions, { deadlineMs, newBoundary }));
}

function leasedNodes({ steps, rescues }: Plan): readonly NodeName[] {
  const all = [...steps, ...rescues.flatMap((rescue) => rescue.steps)];
  return [...new Set(all.filter(({ act }) => act.kind !== 'hands').map(({ node }) => node))].sort();
}

function recordPlan(plan: Plan, run: OpenRun): void {
  record(run, {
    phase: 'plan',
    config: shortDigest(plan.configHash),
    plan: shortDigest(digestOf(planJson(plan, { isSimulated: false }))),
    steps: plan.steps.length,
    changes: plan.changes.map(({ id, from, to }) => {
      const steps = plan.steps.filter((step) => step.changes.includes(id)).length;
      return { id, from, to, steps };
    }),
  });
}

function beginStep(step: Step, { signal, rescues }: StepStart, plan: Plan, run: OpenRun): StepContext | undefined {
  const { options, keeper } = run;
  const isWritten = recordIntent(step, rescues, run);
  // A rescue stops work that has started, so it runs even if it cannot be recorded.
  if (!isWritten && rescues === undefined) return undefined;
  keeper.setPhase(step.id);
  options.onEvent({ kind: 'step-started', step, ...given({ rescues }) });
  const meter = meterFor(step);
  if (meter !== undefined) run.meters.set(step, meter);
  return {
    ...options,
    runId: options.journal.runId,
    peerKey: run.peerKey,
    exchangeKeys: run.exchangeKeys,
    by: options.controller.name,
    config: shortDigest(plan.configHash),
    observeMs: options.deadlineMs,
    signal,
    session: (node) => sessionOf(run, node),
    newSession: (node) => newSession(run, node),
    way: (node) => wayOf(run, node),
    lease: keeper.lease,
    loseLease: keeper.lose,
    suspend: keeper.suspend,
    resume: keeper.resume,
    progress: (progress: StepProgress) => {
      meter?.add(progress, performance.now());
      options.onEvent({ kind: 'step-progress', step: step.id, node: step.node, ...progress });
    },
  };
}

function recordIntent(step: Step, rescues: string | undefined, run: OpenRun): boolean {
  if (step.act.kind === 'hands') return true;
  return record(run, {
    phase: 'intent',
    step: step.id,
    node: step.node,
    act: step.act.kind,
    class: step.class,
    effect: step.effect.kind,
    changes: step.changes,
    ...given({ rescues }),
  });
}

function recordEnd({ step, outcome, ms, diagnostics, rescues }: StepReport, run: OpenRun): void {
  if (ms > 0 && step.act.kind !== 'hands') {
    const problems = diagnostics.map(({ code, detail }) => ({ code, detail: plainText(detail) }));
    const transfer = run.meters.get(step)?.measured();
    record(run, { phase: 'outcome', step: step.id, node: step.node, outcome, ms, ...given({ transfer }), problems });
  }
  run.meters.delete(step);
  run.problems.push(...diagnostics);
  run.options.onEvent({ kind: 'step-ended', step, outcome, ms, diagnostics, ...given({ rescues }) });
}

export function reportOf(
  run: OpenRun,
  steps: readonly StepReport[],
  refusals: readonly LeaseRefusal[] = [],
): RunReport {
  const { options, keeper } = run;
  options.onEvent({ kind: 'plan-ended' });
  const own = run.problems.splice(0);
  return {
    runId: options.journal.runId,
    steps,
    refusals,
    isInterrupted: isInterrupted(run),
    isLeaseLost: keeper.lost.aborted,
    diagnostics: [...own, ...refusals.map(leaseHeld)].filter(isFirstOfItsLoss),
  };
}

/** True for the first report of a lost lease, which both the rejected step and the renewal detect. */
const isFirstOfItsLoss = (one: Diagnostic, at: number, all: readonly Diagnostic[]): boolean =>
  !hasTrait(one, 'lost-lease') ||
  all.findIndex(({ code, subject }) => code === one.code && isSameSubject(subject, one.subject)) === at;

/** The limit for both streams together. The output is used only if the command fails. */
const maxBytes = 1_048_576;
const shownCharacters = 300;

/** `done` also means that `unless` exited with 0. */
type Ran = 'done' | Diagnostic;

/** Runs the user's own commands under the nodes' leases, each at most once. If a lease is refused, no command runs. */
export async function runCommands(commands: readonly NodeCommand[], deadlineMs: number, run: OpenRun) {
  const taken = await run.keeper.take(commands.map(({ node }) => node));
  const ran = new Map<NodeName, Ran>();
  if (taken.kind === 'taken') {
    await forEachLimited(commands, run.options.parallel, async (command) => {
      const isOver = isInterrupted(run) || run.keeper.lost.aborted || run.halted.signal.aborted;
      if (!isOver) ran.set(command.node, await runOne(command, deadlineMs, run));
    });
  }
  const refusals = taken.kind === 'refused' ? taken.refusals : [];
  const problems = [...ran.values()].flatMap((one) => (typeof one === 'string' ? [] : [one]));
  const nodes = commands.map(({ node }) => node).sort();
  return {
    refusals,
    /** The nodes, by name, where the command is not known to have succeeded. */
    failed: nodes.filter((node) => ran.get(node) !== 'done'),
    isInterrupted: isInterrupted(run),
    isLeaseLost: run.keeper.lost.aborted,
    diagnostics: [...run.problems.splice(0), ...refusals.map(leaseHeld), ...problems],
  };
}

async function runOne({ node, command, unless }: NodeCommand, deadlineMs: number, run: OpenRun): Promise<Ran> {
  const lease = run.keeper.lease(node);
  if (lease.kind === 'none') return lease.diagnostics[0];
  if (unless !== undefined) {
    const checked = await send(node, unless, deadlineMs, run);
    if (checked === 'done') return 'done';
    if (checked.isUnknown) return checked.problem;
  }
  const step = `${node}/run`;
  const about = { act: 'run', class: 'once', effect: 'none', changes: [] } as const;
  if (!record(run, { phase: 'intent', step, node, ...about })) return notWritten(node);
  const startedAtMs = performance.now();
  const sent = await send(node, command, deadlineMs, run);
  record(run, {
    phase: 'outcome',
    step,
    node,
    outcome: sent === 'done' ? 'changed' : sent.isUnknown ? 'unknown' : 'failed',
    ms: Math.round(performance.now() - startedAtMs),
    problems: sent === 'done' ? [] : [{ code: sent.problem.code, detail: plainText(sent.problem.detail) }],
  });
  return sent === 'done' ? 'done' : sent.problem;
}

async function send(
  node: NodeName,
  words: readonly string[],
  deadlineMs: number,
  run: OpenRun,
): Promise<'done' | { readonly isUnknown: boolean; readonly problem: Diagnostic }> {
  const command = words.map(quote).join(' ');
  const startedAtMs = performance.now();
  const asked = sessionOf(run, node).ask(() => ({ name: 'run', command, deadlineMs, maxBytes }));
  const answer = await untilAborted(asked, run.options);
  if (answer === 'given-up') return { isUnknown: true, problem: notAwaited(node, words) };
  if (answer.kind === 'unreached') return { isUnknown: true, problem: answer.diagnostics[0] };
  const { exit, stdout, stderr } = printedText(answer.result);
  if (isSuccess(exit)) return 'done';
  const said = escapeText((stderr || stdout || 'no output').trim().slice(0, shownCharacters));
  const problem = diagnose('task/command-failed', {
    subject: nodeSubject(node),
    detail: prose`${labelled(node)}${words.join(' ')}: ${exitText(exit)}: ${said}`,
    command: { argv: words, exit, durationMs: Math.round(performance.now() - startedAtMs), stdout, stderr },
  });
  return { isUnknown: exit.kind === 'unknown', problem };
}

/** After an abort, waits only `abortMs` for a command instead of its full deadline. */
async function untilAborted<T>(asked: Promise<T>, { signal, timing }: OpenRun['options']): Promise<T | 'given-up'> {
  let forget = (): void => undefined;
  const givenUp = new Promise<'given-up'>((resolve) => {
    forget = onAbort(signal, () => void setTimeout(() => resolve('given-up'), timing.abortMs).unref());
  });
  return Promise.race([asked, givenUp]).finally(forget);
}

const notAwaited = (node: NodeName, words: readonly string[]): Diagnostic =>
  diagnose('task/command-failed', {
    subject: nodeSubject(node),
    detail: prose`${labelled(node)}${words.join(' ')}: it was still running when this run was interrupted, and may still be running there.`,
  });

const notWritten = (node: NodeName): Diagnostic =>
  diagnose('journal/cannot-write', {
    subject: nodeSubject(node),
    detail: prose`The command for ${named(node)} was not sent, because the journal could not record it first.`,
  });

function sessionOf(run: OpenRun, node: NodeName): Session {
  const known = run.sessions.get(node);
  if (known) return known;
  const session = newSession(run, node);
  run.sessions.set(node, session);
  return session;
}

/** A separate session that the run does not store; connects on first use. */
function newSession(run: OpenRun, node: NodeName): Session {
  const { deadlineMs, onRemote, onEvent, timing } = run.options;
  const onReconnect = (_node: NodeName, attempt: number): void => onEvent({ kind: 'reconnecting', node, attempt });
  const limits = { deadlineMs, retryMs: timing.retryMs, ...given({ onRemote }), onReconnect };
  return openSession({ node, way: wayOf(run, node) }, limits);
}

/** @throws Error if the node has no SSH target, which is a bug in the caller */
function wayOf({ ways }: OpenRun, node: NodeName): SshTarget {
  const way = ways.get(node);
  if (!way) throw new Error(`the run has no SSH target for ${node}`);
  return way;
}

const isInterrupted = ({ options }: OpenRun): boolean => options.signal?.aborted === true;

/** Returns true if the entry was written. Otherwise the run starts no more steps. */
function record({ options, halted, problems }: OpenRun, entry: JournalEntry): boolean {
  try {
    options.journal.write(entry);
    return true;
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    if (!halted.signal.aborted) problems.push(...error.diagnostics);
    halted.abort();
    return false;
  }
}

function recordLease(run: OpenRun, { node, state, token, holder }: LeaseChange): void {
  if (state !== 'waiting' && state !== 'expired') {
    record(run, { phase: 'lease', node, state, ...given({ token }) });
  }
  if (state === 'lost') {
    const detail = prose`${labelled(node)}the lease of run ${run.options.journal.runId} no longer exists.`;
    run.problems.push(diagnose('lease/lost', { subject: nodeSubject(node), detail }));
  }
  run.options.onEvent({ kind: 'lease', node, state, ...given({ holder }) });
}

/** The result of running one plan. Only the next observation shows whether the nodes match the file. */
export interface RunReport {
  readonly runId: string;
  /** All steps in plan order, then the rescues that ran. */
  readonly steps: readonly StepReport[];
  /** Nodes that other runs have leased, so that nothing was started (exit 75). */
  readonly refusals: readonly LeaseRefusal[];
  /** Nothing was started because the nodes had changed since the plan, through another run or a restart. */
  readonly isStale?: boolean;
  readonly isInterrupted: boolean;
  /** Another run took over a node's lease during this run; nothing was started afterwards. */
  readonly isLeaseLost: boolean;
  /** Problems of the run itself and of all steps, in order of occurrence. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The inputs of a run other than its plans. The caller reads clocks and generates tokens. */
export interface RunOptions
  extends UseLimits,
    Pick<
      StepContext,
      'verb' | 'desired' | 'timing' | 'newBoundary' | 'onWithdraw' | 'unlock' | 'passwordOf' | 'orderUpdate' | 'token'
    > {
  /** SSH targets of all nodes in the plan and of the nodes that its gates observe. */
  readonly ways: readonly NodeTarget[];
  readonly controller: Controller;
  /** Opened for this run and named by its run id; the caller closes it. */
  readonly journal: Journal;
  /** The maximum number of nodes with running steps. */
  readonly parallel: number;
  /** How long to wait for a live run's lease before giving up; 0 without `--lease-wait`. */
  readonly leaseWaitMs: number;
  readonly onEvent: RunListener;
  /** Called when the plan has its leases, before the first step. An error in this function ends the run. */
  readonly onLeased?: () => Promise<void>;
}
