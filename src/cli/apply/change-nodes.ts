import { dirname } from 'node:path';
import { isDone } from '../../apply/execute.ts';
import { type Journal, newRunId, openJournal } from '../../apply/journal/journal.ts';
import { thisController } from '../../apply/lease/controller.ts';
import type { RunOptions } from '../../apply/open-run.ts';
import type { PlaybookOptions, PlaybookWork, ShownPlan } from '../../apply/playbook-report.ts';
import type { RunEvent, RunListener } from '../../apply/run-events.ts';
import { type RunView as Drawing, showRun } from '../../apply/show-run.ts';
import { nodesToSee } from '../../desired/layouts.ts';
import { FleetError } from '../../diagnostics/diagnostic.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { PlayScope } from '../../engine/playbooks/expand.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import { needsToken } from '../../model/step.ts';
import { soughtOn } from '../../rack/artifacts/models/model-resource.ts';
import { taskText } from '../../report/run/apply-text.ts';
import { requireClusterFile } from '../cluster/open-cluster.ts';
import type { SshTargets } from '../cluster/ssh-targets.ts';
import { journalsOf } from '../files/places.ts';
import { observeLimits, observeNodes } from '../look/observe-fleet.ts';
import type { Consent } from '../plan/consent.ts';
import { readToken } from '../sources/hub-source.ts';
import { missingIfRefused } from '../sources/secrets.ts';
import { askYes } from '../terminal/ask.ts';
import { isLive, showEvent, showWait } from '../terminal/console.ts';
import { unlockWithoutPerson } from '../unlock/unlock-by-itself.ts';
import { timingFor } from '../use-limits.ts';
import { parseDuration, type Run, textOption, usageError } from '../verb.ts';
import { plainView, type RunView, sayLine } from './plain-view.ts';
import { leaseText } from './run-lines.ts';

/** The hooks of a command during its run. */
export interface RunHooks {
  /** Called each time the run has a plan's leases, before the plan's first step. */
  readonly onLeased?: () => Promise<void>;
  /** Called between two tasks, while the run has its leases; `lost` aborts when the run loses a lease. */
  readonly afterTask?: (work: PlaybookWork, lost: AbortSignal) => Promise<void>;
  /** The text for a task without a plan, if it is not the default. */
  readonly tells?: (work: PlaybookWork) => string | undefined;
}

/** The nodes of a command, and how the command asks the user. */
interface NodeChange extends RunHooks, Pick<RunOptions, 'onWithdraw'> {
  readonly verb: string;
  readonly scope: PlayScope;
  readonly ways: SshTargets;
  readonly consent: Consent;
  /** Shows a plan before the user is asked to confirm it. */
  readonly show: (plan: Plan) => void;
  readonly question: (plan: Plan) => string;
  /** True if all plans are checked for consent before the first change; each plan still asks its own question. */
  readonly isForeseen?: boolean;
  /** A plan that has already been shown and confirmed. */
  readonly first?: ShownPlan;
}

/** The options with which a command runs its playbook: it shows progress, and each plan is confirmed before it runs. */
export async function playbookOptions(run: Run, change: NodeChange): Promise<PlaybookOptions> {
  const { scope, ways, consent, first } = change;
  const view = isLive(run.console) && !run.options.json ? drawnView(run) : plainView(run);
  const wait = showWait(run.console);
  const prepared = await prepareRun(run, change, view.listen);
  // Nodes that were shut down do not answer.
  const off = new Set<NodeName>();
  let isLater = first !== undefined;
  if (first !== undefined) view.begin(first.plan);
  return {
    scope,
    observe: (nodes) =>
      observeNodes(
        run,
        nodesToSee(scope.desired, nodes).filter(({ name }) => !off.has(name)),
        ways,
        { modelsOn: (node) => soughtOn(scope.desired, node) },
      ),
    approve: async (plan) => {
      await view.end();
      // A blank line separates the plan from earlier output.
      if (isLater && !run.options.json) run.console.out('\n');
      change.show(plan);
      await prepared.requireToken(plan);
      if (!(await consent.give(plan, change.question(plan)))) return false;
      isLater = true;
      view.begin(plan);
      return true;
    },
    ...(change.isForeseen === true ? { foresee: consent.foresee } : {}),
    confirm: async (text) => {
      await view.end();
      return askYes(run, text);
    },
    ...given({ first }),
    run: prepared.begin,
    timing: timingFor(run),
    signal: run.signal,
    onWait: wait.show,
    onWork: async (work, lost) => {
      for (const node of switchedOff(work)) off.add(node);
      wait.end();
      const text = change.tells?.(work) ?? toldText(work, run.signal.aborted);
      if (text !== undefined) await view.note(text);
      if (change.afterTask === undefined) return;
      await view.end();
      await change.afterTask(work, lost);
    },
    end: async () => {
      wait.end();
      await view.end();
      prepared.close();
    },
  };
}

/** The text for a finished task that has no plan and no question. */
function toldText({ task, nodes, failed, observation }: PlaybookWork, isInterrupted: boolean): string | undefined {
  const { kind } = task;
  // Without an observation, an interrupted task has no result. Commands are an exception: they have an exit status.
  const isCut = isInterrupted && kind !== 'run' && observation === undefined;
  const isTold = kind === 'run' || kind === 'wait' || kind === 'assert' || kind === 'verify';
  return isTold ? taskText(task, nodes, { failed, isCut }) : undefined;
}

const switchedOff = ({ run }: PlaybookWork): readonly NodeName[] =>
  (run?.steps ?? []).flatMap((one) =>
    isDone(one) && one.step.act.kind === 'reboot' && one.step.act.to === 'off' ? [one.step.node] : [],
  );

/** A view that redraws lines on a terminal. */
function drawnView(run: Run): RunView {
  const { columns, hasUnicode, hasColor } = run.console;
  let drawing: Drawing | undefined;
  const end = async (): Promise<void> => {
    const ended = drawing;
    drawing = undefined;
    await ended?.end();
    run.console.drawing = undefined;
  };
  return {
    listen: (event) => {
      drawing?.listen(event);
      // Lease events are not shown in a node's line.
      if (event.kind === 'lease' && (event.state === 'waiting' || event.state === 'expired'))
        run.console.err(`${leaseText(event)}\n`);
    },
    begin: ({ steps }) => {
      drawing = showRun(steps, { stream: process.stdout, columns, hasUnicode, hasColor });
      run.console.drawing = drawing.note;
    },
    note: async (text) => {
      await end();
      sayLine(run, text);
    },
    end,
  };
}

/** Prepares a run of plans. Writes nothing before `begin`, which opens the journal. */
async function prepareRun(
  run: Run,
  { scope: { desired }, ways, verb, onWithdraw, onLeased }: NodeChange,
  listen: RunListener,
) {
  const folder = journalsOf(run, desired.name);
  const leaseWaitMs = readLeaseWait(run);
  let read: ReturnType<typeof readToken> | undefined;
  const token = (): ReturnType<typeof readToken> => {
    read ??= missingIfRefused(readToken(run, desired, dirname(requireClusterFile(run))));
    return read;
  };
  const prepared = {
    ...observeLimits(run),
    ways: await ways.toAll(desired.nodes),
    desired,
    verb,
    controller: await thisController(),
    timing: timingFor(run),
    leaseWaitMs,
    onEvent: (event: RunEvent) => {
      run.log?.write(event);
      showEvent(run, event);
      listen(event);
    },
    ...given({ onWithdraw, onLeased }),
    unlock: unlockWithoutPerson(run, { fleet: desired, ways }),
    token,
  };
  let journal: Journal | undefined;
  return {
    /** Before anything changes. @throws FleetError `secret/missing` if a step of the plan needs a missing token */
    requireToken: async ({ steps }: Plan): Promise<void> => {
      const found = steps.some(({ act }) => needsToken(act)) ? await token() : undefined;
      if (found?.kind === 'missing') throw new FleetError([found.diagnostic]);
    },
    /** @throws FleetError `journal/cannot-write` */
    begin: (): RunOptions => {
      journal ??= openJournal(folder, run.log?.nextRunId() ?? newRunId(new Date()), run.secrets);
      return { ...prepared, journal };
    },
    close: () => journal?.close(),
  };
}

/** @throws FleetError `cli/usage` */
function readLeaseWait(run: Run): number {
  const text = textOption(run, 'leaseWait');
  const ms = text === undefined ? 0 : parseDuration(text);
  if (ms !== undefined) return ms;
  throw usageError(
    `"${text}" is not a valid time for --lease-wait.`,
    'Enter up to a day in ms, s, m or h, such as 30s.',
  );
}
