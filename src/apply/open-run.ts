import { diagnose } from '../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../diagnostics/diagnostic.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { plainText } from '../diagnostics/prose-text.ts';
import type { Plan } from '../engine/plan/plan.ts';
import { planJson } from '../engine/plan/plan-json.ts';
import type { NodeCommand } from '../engine/playbooks/expand.ts';
import type { DesiredFleet } from '../model/desired.ts';
import { digestOf, shortDigest } from '../model/digest.ts';
import { given } from '../model/given.ts';
import type { NodeName } from '../model/node.ts';
import { exitText, isSuccess } from '../model/probe.ts';
import type { Step } from '../model/step.ts';
import { isSameSubject, nodeSubject } from '../model/subject.ts';
import { labelled, named, prose } from '../model/text/prose.ts';
import { quote } from '../node/quote.ts';
import type { FleetObservation } from '../rack/examination.ts';
import { forEachLimited } from '../remote/limit-parallel.ts';
import { onAbort } from '../remote/on-abort.ts';
import { printedText } from '../remote/remote.ts';
import { executeSteps, type RunStep, type StepReport } from './execute.ts';
import type { Journal, JournalEntry } from './journal/journal.ts';
import { type Controller, claimOf } from './lease/controller.ts';
import {
  createLeaseKeeper,
  type LeaseChange,
  type LeaseKeeper,
  type LeaseRefusal,
  leaseHeld,
} from './lease/lease-keeper.ts';
import { observeSessions } from './reach/observe.ts';
import { type NodeWay, openSession, type Session, type UseLimits, type Way } from './reach/session.ts';
import type { RunListener } from './run-events.ts';
import type { RunTiming } from './run-timing.ts';
import type { StepContext, StepProgress } from './steps/context.ts';
import { runStep } from './steps/run-step.ts';
import type { NodeUnlock } from './unlock-node.ts';

/** A run that is going on: one journal, one connection per node and one lease per node for all of its plans. */
export interface OpenRun {
  /**
   * Takes the leases that are missing and runs exactly this plan. What only hands can do takes no lease. A refusal, an
   * interrupt and a lost lease are values of the report; it rejects for bugs, and with what `onLeased` throws. With `second` the nodes are looked at
   * once more when another run had a lease before, or a node has restarted since it was observed.
   */
  readonly run: (plan: Plan, second?: SecondLook) => Promise<RunReport>;
  /**
   * Runs the user's own commands under the leases of their nodes, each once: a command that broke off is not sent
   * again. Nothing is run where a lease is refused.
   */
  readonly command: (commands: readonly NodeCommand[], deadlineMs: number) => Promise<CommandReport>;
  /** Aborted as soon as one of its leases is lost. */
  readonly lost: AbortSignal;
  /** Gives the leases back, ends the journal and the connections. May be called twice. */
  readonly close: () => Promise<void>;
}

/**
 * Begins a run; nothing is sent before its first plan. The leases on the nodes are the only lock: they also keep a
 * second run from the same state folder away.
 * @throws FleetError `journal/cannot-write`
 */
export function openRun(options: RunOptions): OpenRun {
  const { journal, verb, controller, desired } = options;
  journal.write({ phase: 'run', cluster: desired.name, verb, controller: controller.name });
  const parts = createParts(options);
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await parts.keeper.release();
    record(parts, { phase: 'end', isInterrupted: isInterrupted(parts) });
    for (const session of parts.sessions.values()) session.close();
    options.onEvent({ kind: 'run-ended' });
  };
  return {
    run: (plan, second) => runSteps(plan, parts, second),
    command: (commands, commandMs) => runCommands(commands, commandMs, parts),
    lost: parts.keeper.lost,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

/** How it is found out, under the leases, whether a plan still fits. */
interface SecondLook {
  readonly nodes: readonly NodeName[];
  readonly isStale: (observation: FleetObservation) => boolean;
}

/** Runs one plan with the leases that it needs; every other way in which it can end is a value of the report. */
async function runSteps(plan: Plan, parts: Parts, second?: SecondLook): Promise<RunReport> {
  const nodes = leasedNodes(plan);
  if (nodes.length === 0) return reportOf(parts, await execute(plan, parts));
  tellPlan(plan, parts);
  parts.options.onEvent({ kind: 'run-started', runId: parts.options.journal.runId, nodes });
  const taken = await parts.keeper.take(nodes, plan.observed);
  if (taken.kind !== 'taken') {
    const outcome = taken.kind === 'refused' ? 'skipped' : 'interrupted';
    return reportOf(parts, notBegun(plan, outcome), taken.kind === 'refused' ? taken.refusals : []);
  }
  const isStale = taken.isInDoubt && second !== undefined && (await hasChanged(second, parts));
  if (isStale) return { ...reportOf(parts, notBegun(plan, 'skipped')), isStale };
  if (!isInterrupted(parts)) await parts.options.onLeased?.();
  return reportOf(parts, await execute(plan, parts));
}

const notBegun = ({ steps }: Plan, outcome: 'skipped' | 'interrupted'): readonly StepReport[] =>
  steps.map((step): StepReport => ({ step, outcome, diagnostics: [], ms: 0 }));

async function hasChanged({ nodes, isStale }: SecondLook, parts: Parts): Promise<boolean> {
  const { deadlineMs, newToken } = parts.options;
  const sessions = nodes.map((node) => sessionOf(parts, node));
  return isStale(await observeSessions(sessions, { deadlineMs, newToken }));
}

/** Every node on which a program changes something, or looks in the name of the run. */
function leasedNodes({ steps, rescues }: Plan): readonly NodeName[] {
  const all = [...steps, ...rescues.flatMap((rescue) => rescue.steps)];
  return [...new Set(all.filter(({ act }) => act.kind !== 'hands').map(({ node }) => node))].sort();
}

function tellPlan(plan: Plan, parts: Parts): void {
  record(parts, {
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

async function execute(plan: Plan, parts: Parts): Promise<readonly StepReport[]> {
  const { options, keeper, halted } = parts;
  const { signal, onEvent, parallel, timing } = options;
  const watch = new AbortController();
  const tellInterrupt = (): void => onEvent({ kind: 'interrupted' });
  signal?.addEventListener('abort', tellInterrupt, { signal: watch.signal });
  try {
    return await executeSteps(plan, {
      run: runnerOf(plan, parts),
      parallel,
      ...given({ interrupt: signal }),
      forbidden: keeper.lost,
      halted: halted.signal,
      interruptMs: timing.interruptMs,
      onEnd: (report) => tellEnd(report, parts),
      onRescue: (group) => onEvent({ kind: 'rescue-started', group }),
    });
  } finally {
    watch.abort();
  }
}

function runnerOf(plan: Plan, parts: Parts): RunStep {
  const { options, keeper } = parts;
  return async (step, { signal, rescues }) => {
    const isWritten = tellIntent(step, rescues, parts);
    // A rescue only stops what was begun: better done and not written down than left running.
    if (!isWritten && rescues === undefined) return { outcome: 'skipped', diagnostics: [] };
    keeper.setPhase(step.id);
    options.onEvent({ kind: 'step-started', step, ...given({ rescues }) });
    return runStep(step, contextOf(step, plan, signal, parts));
  };
}

function contextOf(step: Step, plan: Plan, signal: AbortSignal, parts: Parts): StepContext {
  const { options, keeper } = parts;
  return {
    runId: options.journal.runId,
    verb: options.verb,
    by: options.controller.name,
    config: shortDigest(plan.configHash),
    desired: options.desired,
    timing: options.timing,
    lookMs: options.deadlineMs,
    newToken: options.newToken,
    signal,
    session: (node) => sessionOf(parts, node),
    newSession: (node) => newSession(parts, node),
    way: (node) => wayOf(parts, node),
    hold: keeper.hold,
    loseHold: keeper.lose,
    suspend: keeper.suspend,
    resume: keeper.resume,
    ...given({ onWithdraw: options.onWithdraw, unlock: options.unlock }),
    progress: (progress: StepProgress) =>
      options.onEvent({ kind: 'step-progress', step: step.id, node: step.node, ...progress }),
  };
}

function tellIntent(step: Step, rescues: string | undefined, parts: Parts): boolean {
  if (step.act.kind === 'hands') return true;
  return record(parts, {
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

function tellEnd({ step, outcome, ms, diagnostics, rescues }: StepReport, parts: Parts): void {
  if (ms > 0 && step.act.kind !== 'hands') {
    const problems = diagnostics.map(({ code, detail }) => ({ code, detail: plainText(detail) }));
    record(parts, { phase: 'outcome', step: step.id, node: step.node, outcome, ms, problems });
  }
  parts.problems.push(...diagnostics);
  parts.options.onEvent({ kind: 'step-ended', step, outcome, ms, diagnostics, ...given({ rescues }) });
}

function reportOf(parts: Parts, steps: readonly StepReport[], refusals: readonly LeaseRefusal[] = []): RunReport {
  const { options, keeper } = parts;
  options.onEvent({ kind: 'plan-ended' });
  const own = parts.problems.splice(0);
  return {
    runId: options.journal.runId,
    steps,
    refusals,
    isInterrupted: isInterrupted(parts),
    isLeaseLost: keeper.lost.aborted,
    diagnostics: [...own, ...refusals.map(({ node, holder }) => leaseHeld(node, holder))].filter(isFirstOfItsLoss),
  };
}

/** A lost lease is noticed by the step that was turned away and by its renewal; it is one problem. */
const isFirstOfItsLoss = (one: Diagnostic, at: number, all: readonly Diagnostic[]): boolean =>
  one.code !== 'lease/lost' ||
  all.findIndex(({ code, subject }) => code === one.code && isSameSubject(subject, one.subject)) === at;

/** How the user's own commands came out. */
interface CommandReport extends Pick<RunReport, 'refusals' | 'isInterrupted' | 'isLeaseLost' | 'diagnostics'> {
  /** Nodes on which the command is not known to have ended well, by name. */
  readonly failed: readonly NodeName[];
}

/** Of both streams together; what a command prints is only looked at when it fails. */
const maxBytes = 1_048_576;
const shownCharacters = 300;

/** `done` also where `unless` showed that there was nothing to do. */
type Ran = 'done' | Diagnostic;

/** Runs commands of a playbook, one per node, at most `parallel` at once. */
async function runCommands(commands: readonly NodeCommand[], deadlineMs: number, parts: Parts): Promise<CommandReport> {
  const taken = await parts.keeper.take(commands.map(({ node }) => node));
  const ran = new Map<NodeName, Ran>();
  if (taken.kind === 'taken') {
    await forEachLimited(commands, parts.options.parallel, async (command) => {
      const isOver = isInterrupted(parts) || parts.keeper.lost.aborted || parts.halted.signal.aborted;
      if (!isOver) ran.set(command.node, await runOne(command, deadlineMs, parts));
    });
  }
  const refusals = taken.kind === 'refused' ? taken.refusals : [];
  const problems = [...ran.values()].flatMap((one) => (typeof one === 'string' ? [] : [one]));
  const nodes = commands.map(({ node }) => node).sort();
  return {
    refusals,
    failed: nodes.filter((node) => ran.get(node) !== 'done'),
    isInterrupted: isInterrupted(parts),
    isLeaseLost: parts.keeper.lost.aborted,
    diagnostics: [
      ...parts.problems.splice(0),
      ...refusals.map(({ node, holder }) => leaseHeld(node, holder)),
      ...problems,
    ],
  };
}

async function runOne({ node, command, unless }: NodeCommand, deadlineMs: number, parts: Parts): Promise<Ran> {
  const hold = parts.keeper.hold(node);
  if (hold.kind === 'none') return hold.diagnostics[0];
  if (unless !== undefined) {
    const checked = await send(node, unless, deadlineMs, parts);
    if (checked === 'done') return 'done';
    if (checked.isUnknown) return checked.problem;
  }
  const step = `${node}/run`;
  const about = { act: 'run', class: 'once', effect: 'none', changes: [] } as const;
  if (!record(parts, { phase: 'intent', step, node, ...about })) return notWritten(node);
  const startedAtMs = performance.now();
  const sent = await send(node, command, deadlineMs, parts);
  record(parts, {
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
  parts: Parts,
): Promise<'done' | { readonly isUnknown: boolean; readonly problem: Diagnostic }> {
  const command = words.map(quote).join(' ');
  const startedAtMs = performance.now();
  const asked = sessionOf(parts, node).ask(() => ({ name: 'run', command, deadlineMs, maxBytes }));
  const answer = await untilInterrupted(asked, parts.options);
  if (answer === 'given-up') return { isUnknown: true, problem: notAwaited(node, words) };
  if (answer.kind === 'unreached') return { isUnknown: true, problem: answer.diagnostics[0] };
  const { exit, stdout, stderr } = printedText(answer.result);
  if (isSuccess(exit)) return 'done';
  const said = escapeText((stderr || stdout || 'without a word').trim().slice(0, shownCharacters));
  const problem = diagnose('task/command-failed', {
    subject: nodeSubject(node),
    detail: prose`${labelled(node)}${words.join(' ')}: ${exitText(exit)}: ${said}`,
    command: { argv: words, exit, durationMs: Math.round(performance.now() - startedAtMs), stdout, stderr },
  });
  return { isUnknown: exit.kind === 'unknown', problem };
}

/** After an interrupt a command has a moment to end; the run does not wait for its whole deadline. */
async function untilInterrupted<T>(asked: Promise<T>, { signal, timing }: Parts['options']): Promise<T | 'given-up'> {
  let forget = (): void => undefined;
  const givenUp = new Promise<'given-up'>((resolve) => {
    forget = onAbort(signal, () => void setTimeout(() => resolve('given-up'), timing.interruptMs).unref());
  });
  return Promise.race([asked, givenUp]).finally(forget);
}

const notAwaited = (node: NodeName, words: readonly string[]): Diagnostic =>
  diagnose('task/command-failed', {
    subject: nodeSubject(node),
    detail: prose`${labelled(node)}${words.join(' ')}: it had not ended when this run was interrupted; it may still run there.`,
  });

const notWritten = (node: NodeName): Diagnostic =>
  diagnose('journal/cannot-write', {
    subject: nodeSubject(node),
    detail: prose`The command for ${named(node)} was not sent: it could not be written down first.`,
  });

/** What the pieces of a run share. */
interface Parts {
  readonly options: RunOptions;
  readonly ways: ReadonlyMap<NodeName, Way>;
  readonly sessions: Map<NodeName, Session>;
  readonly keeper: LeaseKeeper;
  /** Aborted when the journal cannot be written any more. */
  readonly halted: AbortController;
  /** Problems of the run itself. */
  readonly problems: Diagnostic[];
}

/** The parts of a run that has not asked any node yet. */
function createParts(options: RunOptions): Parts {
  const { journal, verb, controller, timing, leaseWaitMs, signal, deadlineMs } = options;
  const since = new Date().toISOString();
  const claim = claimOf(controller, { run: journal.runId, verb, phase: 'starting', since });
  const keeper = createLeaseKeeper({
    claim,
    controller,
    timing,
    waitMs: leaseWaitMs,
    askMs: deadlineMs,
    ...given({ signal }),
    session: (node) => sessionOf(parts, node),
    onChange: (change) => tellLease(parts, change),
  });
  const parts: Parts = {
    options,
    ways: new Map(options.ways.map(({ node, way }) => [node, way])),
    sessions: new Map(),
    keeper,
    halted: new AbortController(),
    problems: [],
  };
  return parts;
}

/** The one session of a node, opened when it is first needed. */
function sessionOf(parts: Parts, node: NodeName): Session {
  const known = parts.sessions.get(node);
  if (known) return known;
  const session = newSession(parts, node);
  parts.sessions.set(node, session);
  return session;
}

/** One that is not kept: over a connection of its own, made when it is first used. */
function newSession(parts: Parts, node: NodeName): Session {
  const { deadlineMs, onRemote, onEvent, timing } = parts.options;
  const onReconnect = (_node: NodeName, attempt: number): void => onEvent({ kind: 'reconnecting', node, attempt });
  const limits = { deadlineMs, retryMs: timing.retryMs, ...given({ onRemote }), onReconnect };
  return openSession({ node, way: wayOf(parts, node) }, limits);
}

/** @throws Error when the run was given no way to it, which is a bug of the caller */
function wayOf({ ways }: Parts, node: NodeName): Way {
  const way = ways.get(node);
  if (!way) throw new Error(`the run was given no way to ${node}`);
  return way;
}

/** Whether a signal has asked the run to end. */
const isInterrupted = ({ options }: Parts): boolean => options.signal?.aborted === true;

/** Whether it is written down. What cannot be written ends the run: nothing more is begun. */
function record({ options, halted, problems }: Parts, entry: JournalEntry): boolean {
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

function tellLease(parts: Parts, { node, phase, token, holder }: LeaseChange): void {
  if (phase !== 'waiting' && phase !== 'expired') {
    record(parts, { phase: 'lease', node, state: phase, ...given({ token }) });
  }
  if (phase === 'lost') {
    const detail = prose`${labelled(node)}the lease of run ${parts.options.journal.runId} is not there any more.`;
    parts.problems.push(diagnose('lease/lost', { subject: nodeSubject(node), detail }));
  }
  parts.options.onEvent({ kind: 'lease', node, phase, ...given({ holder }) });
}

/** What came of running one plan. Whether the nodes are as they should be is for the next observation to say. */
export interface RunReport {
  readonly runId: string;
  /** Every step of the plan in its order, then the rescues that ran. */
  readonly steps: readonly StepReport[];
  /** Set when nothing was begun because others hold these nodes (exit 75). */
  readonly refusals: readonly LeaseRefusal[];
  /** A different run had a lease before, and the nodes changed since they were planned for: nothing was begun. */
  readonly isStale?: boolean;
  /** A signal ended it. */
  readonly isInterrupted: boolean;
  /** A different run took the lease of a node while this one ran; nothing was begun after that. */
  readonly isLeaseLost: boolean;
  /** Problems of the run itself, and those of all steps, in the order in which they came up. */
  readonly diagnostics: readonly Diagnostic[];
}

/** What a run needs besides its plan. Times and ids are arguments: the caller reads clocks and makes tokens. */
export interface RunOptions extends UseLimits {
  /** The ways to all nodes of the plan, and to those that its gates look at. */
  readonly ways: readonly NodeWay[];
  /** The settled file that the plan was made from: gates read the same properties. */
  readonly desired: DesiredFleet;
  /** As it was typed: `apply`; shown to a run that finds the lease. */
  readonly verb: string;
  readonly controller: Controller;
  /** Opened for this run; the caller closes it. Its run id names the run. */
  readonly journal: Journal;
  /** On how many nodes steps run at once. */
  readonly parallel: number;
  /** 32 hexadecimal digits, new for every observation. */
  readonly newToken: () => string;
  readonly timing: RunTiming;
  /** How long to wait for the lease of a different run that is alive, after which this one is refused; 0 unless `--lease-wait`. */
  readonly leaseWaitMs: number;
  readonly onEvent: RunListener;
  /**
   * Told when the leases of a plan are held and before its first step, which waits for it. What it throws ends the run.
   */
  readonly onLeased?: () => Promise<void>;
  /** Told before the script that takes the way into a node away, which is not sent until this is done. */
  readonly onWithdraw?: (node: NodeName) => Promise<void>;
  /** Unlocks a Mac that came back locked at FileVault, where that needs no person; absent when none can be. */
  readonly unlock?: NodeUnlock;
}
