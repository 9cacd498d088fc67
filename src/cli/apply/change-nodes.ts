import type { PlaybookReport, PlaybookWork, ShownPlan } from '../../apply/playbook-report.ts';
import { runPlaybook } from '../../apply/run-playbook.ts';
import { nodesToSee } from '../../desired/nodes-to-see.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { FleetError } from '../../diagnostics/fleet-error.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { PlayScope } from '../../engine/playbooks/expand.ts';
import type { Playbook } from '../../engine/playbooks/playbook.ts';
import type { NodeName } from '../../model/node.ts';
import { taskText } from '../../report/run/task-text.ts';
import type { Ways } from '../cluster/ways.ts';
import { observeNodes } from '../look/observe-fleet.ts';
import type { Consent } from '../plan/consent.ts';
import { askYes } from '../terminal/ask.ts';
import { showWait } from '../terminal/progress.ts';
import { timingFor } from '../terminal/timing.ts';
import type { Run } from '../verb/verb.ts';
import { prepareRun, type RunSubject } from './run-options.ts';
import { createRunView, type RunView } from './run-view.ts';

/** What is to be run, and how people are heard. */
export interface NodeChange {
  readonly verb: string;
  readonly playbook: Playbook;
  readonly scope: PlayScope;
  readonly ways: Ways;
  readonly consent: Consent;
  readonly onWithdraw?: RunSubject['onWithdraw'];
  /** Called each time the leases of a plan are held, before its first step. */
  readonly onLeased?: () => Promise<void>;
  /** Called when a task has ended and before the next one begins, under the leases of the run, until one is `lost`. */
  readonly afterTask?: (work: PlaybookWork, lost: AbortSignal) => Promise<void>;
  /** What is said of a task that has no plan of its own, where that is another thing than its words. */
  readonly tells?: (work: PlaybookWork) => string | undefined;
  /** Shows a plan before anybody is asked about it. */
  readonly show: (plan: Plan) => void;
  /** Sets what follows apart from what was said before. */
  readonly apart: () => void;
  readonly question: (plan: Plan) => string;
  /** Whether consent is asked for all plans before the first change; each plan is asked about by itself all the same. */
  readonly isForeseen?: boolean;
  /** A plan that was shown and agreed to already. */
  readonly first?: ShownPlan;
}

/** A run that has ended, with what kept it from going on. */
export interface EndedChange {
  readonly report: PlaybookReport;
  readonly refusal: readonly Diagnostic[];
}

/**
 * Runs a playbook, shows it while it goes on, and has every plan agreed to before it is run.
 * @throws FleetError when the first plan may not be run, or the journal cannot be written: then nothing was changed
 */
export async function changeNodes(run: Run, change: NodeChange): Promise<EndedChange> {
  const { playbook, scope, ways, verb, first, onWithdraw, onLeased } = change;
  const told = { ...(onWithdraw === undefined ? {} : { onWithdraw }), ...(onLeased === undefined ? {} : { onLeased }) };
  const view = createRunView(run);
  const wait = showWait(run.console);
  const prepared = await prepareRun(run, { fleet: scope.desired, ways, verb, onEvent: view.listen, ...told });
  const state: ChangeState = { hasRun: first !== undefined, off: new Set(), refusal: [] };
  if (first !== undefined) view.begin(first.plan);
  try {
    const report = await runPlaybook(playbook, {
      scope,
      observe: (nodes) =>
        observeNodes(
          run,
          nodesToSee(scope.desired, nodes).filter(({ name }) => !state.off.has(name)),
          ways,
        ),
      approve: (plan) => approve(change, { plan, view, state }),
      ...(change.isForeseen === true ? { foresee: change.consent.foresee } : {}),
      confirm: async (text) => {
        await view.end();
        return unlessRefused(state, () => askYes(run, text));
      },
      ...(first === undefined ? {} : { first }),
      run: prepared.begin,
      timing: timingFor(run),
      signal: run.signal,
      onWait: wait.show,
      onWork: async (work, lost) => {
        noteSwitchedOff(work, state);
        wait.end();
        const text = change.tells?.(work) ?? toldText(work, run.signal.aborted);
        if (text !== undefined) await view.note(text);
        if (change.afterTask === undefined) return;
        await view.end();
        await change.afterTask(work, lost);
      },
    });
    return { report, refusal: state.refusal };
  } finally {
    wait.end();
    await view.end();
    prepared.close();
  }
}

interface ChangeState {
  hasRun: boolean;
  /** Nodes that were switched off: nobody waits for an answer of theirs. */
  readonly off: Set<NodeName>;
  refusal: readonly Diagnostic[];
}

interface Approval {
  readonly plan: Plan;
  readonly view: RunView;
  readonly state: ChangeState;
}

async function approve(
  { show, apart, consent, question }: NodeChange,
  { plan, view, state }: Approval,
): Promise<boolean> {
  await view.end();
  if (state.hasRun) apart();
  show(plan);
  if (!(await unlessRefused(state, () => consent.give(plan, question(plan))))) return false;
  state.hasRun = true;
  view.begin(plan);
  return true;
}

/** Once something has been changed, a refusal ends the run and does not undo it. */
async function unlessRefused(state: ChangeState, ask: () => Promise<boolean>): Promise<boolean> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof FleetError) || !state.hasRun) throw error;
    state.refusal = error.diagnostics;
    return false;
  }
}

/** What has a plan has told its changes, and an answer was given by whoever was asked. */
function toldText({ task, nodes, failed, observation }: PlaybookWork, isInterrupted: boolean): string | undefined {
  const { kind } = task;
  // A wait and a look have a result only with what was seen; commands say themselves how they ended.
  const isCut = isInterrupted && kind !== 'run' && observation === undefined;
  const isTold = kind === 'run' || kind === 'wait' || kind === 'assert' || kind === 'verify';
  return isTold ? taskText(task, nodes, { failed, isCut }) : undefined;
}

function noteSwitchedOff({ run }: PlaybookWork, { off }: ChangeState): void {
  for (const { step, outcome } of run?.steps ?? []) {
    const isDone = outcome === 'changed' || outcome === 'unchanged';
    if (step.act.kind === 'reboot' && step.act.to === 'off' && isDone) off.add(step.node);
  }
}
