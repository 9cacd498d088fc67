import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { plainText } from '../diagnostics/prose-text.ts';
import type { Plan } from '../engine/plan/plan.ts';
import { planJson } from '../engine/plan/plan-json.ts';
import type { NodeCommand } from '../engine/playbooks/expand.ts';
import { digestOf, shortDigest } from '../model/digest.ts';
import { given } from '../model/given.ts';
import type { NodeName } from '../model/node.ts';
import type { Step } from '../model/step.ts';
import { isSameSubject } from '../model/subject.ts';
import type { FleetObservation } from '../rack/examination.ts';
import { executeSteps, type RunStep } from './execute.ts';
import { leaseHeld } from './lease/take-lease.ts';
import { observeSessions } from './reach/observe.ts';
import { type CommandReport, runCommands } from './run-commands.ts';
import type { RunOptions } from './run-options.ts';
import { createParts, isInterrupted, newSession, type Parts, record, sessionOf, wayOf } from './run-parts.ts';
import type { LeaseRefusal, RunReport, StepReport } from './run-report.ts';
import type { StepContext, StepProgress } from './steps/context.ts';
import { runStep } from './steps/run-step.ts';

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
    return runStep(step, contextOf(step, { plan, parts, signal }));
  };
}

interface About {
  readonly plan: Plan;
  readonly parts: Parts;
  readonly signal: AbortSignal;
}

function contextOf(step: Step, { plan, parts, signal }: About): StepContext {
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
