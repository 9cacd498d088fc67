import { readFileSync } from 'node:fs';
import { isDone } from '../../apply/execute.ts';
import type { RunOptions } from '../../apply/open-run.ts';
import { type PlaybookOptions, type PlaybookReport, type PlaybookWork, stepsOf } from '../../apply/playbook-report.ts';
import { runPlaybook } from '../../apply/run-playbook.ts';
import { nodesToSee } from '../../desired/layouts.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import type { Plan, StepReport } from '../../engine/plan/plan.ts';
import { nodesOfPlays, type PlayScope } from '../../engine/playbooks/expand.ts';
import { loadPlaybook } from '../../engine/playbooks/load.ts';
import { type Playbook, type Task, updatesMacos } from '../../engine/playbooks/playbook.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose, upperFirst } from '../../model/text/prose.ts';
import { soughtOn } from '../../rack/artifacts/models/model-resource.ts';
import type { Goal } from '../../rack/goal.ts';
import { gatewayStateOf, inFlightOf } from '../../rack/placement/mesh/gateway-steps.ts';
import { hasMachineSteps } from '../../report/plan/plan-text.ts';
import { taskText } from '../../report/run/apply-text.ts';
import type { LockPlace } from '../cluster/open-cluster.ts';
import type { SettledCluster } from '../cluster/settle-cluster.ts';
import { openTargets, type SshTargets } from '../cluster/ssh-targets.ts';
import type { ObservedPlan } from '../look/observe-and-plan.ts';
import { observeNodes } from '../look/observe-fleet.ts';
import type { Consent } from '../plan/consent.ts';
import { showPlan } from '../plan/plan-document.ts';
import { askYes } from '../terminal/ask.ts';
import { paragraphText, showWait } from '../terminal/console.ts';
import { unlockReadiness } from '../unlock/unlock-by-itself.ts';
import { timingFor } from '../use-limits.ts';
import type { Run } from '../verb.ts';
import { prepareRun, runView } from './change-nodes.ts';
import type { FinalCheck } from './final-check.ts';
import { type EndedRun, endedRun, nothingRun, type OutcomeParts, type RunOutcome } from './run-outcome.ts';

/** The folder with the playbooks of this package. */
export const playbookFolder = new URL('../../../playbooks/', import.meta.url);

const shipped = ['apply', 'drain', 'restart', 'reboot', 'shutdown'] as const;

type ShippedPlaybook = (typeof shipped)[number];

export const isShipped = (word: string): word is ShippedPlaybook => shipped.some((name) => name === word);

/**
 * A playbook from this package, read only from the package's own folder so that no user file can replace it.
 * @throws Error if the package is damaged
 */
export function shippedPlaybook(name: ShippedPlaybook): Playbook {
  const file = `${name}.yaml`;
  const { playbook, diagnostics } = loadPlaybook(readFileSync(new URL(file, playbookFolder)), { file, name });
  if (playbook === undefined)
    throw new Error(`${file} is damaged: ${plainText(diagnostics[0]?.detail ?? 'it is empty')}`);
  return playbook;
}

export const playbookOf = (name: string, ...tasks: readonly Task[]): Playbook => ({
  name,
  plays: [{ nodes: { kind: 'targets' }, serial: [], maxFailures: 0, tasks }],
});

/** A command that changes nodes: what it runs, what it asks, and what it shows. */
export interface CommandSpec {
  readonly verb: string;
  /** For `run`: the displayed path of the playbook. */
  readonly file?: string;
  /** For `run`: shows the whole playbook and asks for consent, reads labels again, and does tasks of its own. */
  readonly ahead?: Pick<PlaybookOptions, 'foresee' | 'checksBaked' | 'labelledNow' | 'perform'>;
  readonly scope: PlayScope;
  /** By default, everything in the file. */
  readonly goal?: Goal;
  /** By default, its only task is the goal. */
  readonly playbook?: Playbook;
  readonly consent: Consent;
  /** The first plan, if it is already shown. */
  readonly first?: ShownFirst;
  readonly texts?: CommandTexts;
  readonly hooks?: CommandHooks;
  /** By default, the steps themselves determine the result on the targets. */
  readonly check?: FinalCheck;
  /** Completes the command, and returns what is shown with its outcome. */
  readonly ending?: (outcome: RunOutcome) => OutcomeParts | Promise<OutcomeParts>;
}

interface ShownFirst {
  readonly planned: ObservedPlan;
  /** True if the user is asked even if the plan has no steps, because the lock gets new lines. */
  readonly isAlwaysAsked?: boolean;
  /** Called when the user has agreed to a plan that is already shown, before its first step. */
  readonly onAgreed?: (planned: ObservedPlan) => Promise<void>;
  /** The plan to run after this outcome, already shown as well. */
  readonly next?: (outcome: RunOutcome) => Promise<ObservedPlan | undefined>;
}

interface CommandTexts {
  /** By default, asks whether to run the plan above. */
  readonly question?: (plan: Plan) => string;
  /** Shows a plan before the user is asked; by default on one page, except with `--json`. */
  readonly show?: (plan: Plan) => void;
  /** The consequences beyond the first plan's own changes, one sentence each. */
  readonly leadsTo?: readonly Prose[];
  /** The text for a task without a plan, if it is not the default. */
  readonly task?: (work: PlaybookWork) => string | undefined;
}

interface CommandHooks extends Pick<RunOptions, 'onLeased' | 'onWithdraw' | 'passwordOf' | 'orderUpdate'> {
  /** Called between two tasks, while the run has its leases; `lost` aborts when the run loses a lease. */
  readonly afterTask?: (work: PlaybookWork, lost: AbortSignal) => Promise<void>;
}

/** With an observation that is recent enough for the command's first plan, or else without. */
export type SeenCluster = SettledCluster & Pick<PlaybookOptions, 'seen'>;

/** Runs a command from its first observation to the final check. */
export async function actOn(
  run: Run,
  command: CommandSpec,
  cluster: Pick<SeenCluster, 'opened' | 'lockPlace' | 'seen'>,
  ways: SshTargets = openTargets(run, cluster.opened),
): Promise<EndedRun> {
  const { verb, file } = command;
  const { goal = { kind: 'converge' }, playbook = playbookOf(verb, { kind: 'goal', goal }) } = command;
  const scope = await withUnlocks(run, playbook, command.scope, ways);
  // Only users' playbooks have their own description; the help describes our own commands.
  if (file !== undefined && playbook.about !== undefined && !run.options.json)
    run.console.out(`${paragraphText(run.console, playbook.about)}\n`);
  const show = command.texts?.show ?? pageOf(run, command, cluster.lockPlace);
  let outcome: RunOutcome = { targets: scope.targets, report: nothingRun(scope.targets) };
  let first = command.first?.planned;
  do {
    const unrun = first && (await withoutRun(run, command, first));
    const report =
      unrun ??
      (await runPlaybook(playbook, {
        ...(await playbookOptions(run, { ...command, scope, first }, ways, show)),
        ...given({ seen: cluster.seen }),
      }));
    const checked: ReturnType<FinalCheck> = command.check?.(report) ?? { targets: scope.targets };
    const { targets } = checked;
    // A plan that was not run takes the place of the final check.
    const last = unrun && first ? { ...first, goal: goal.kind, fleet: scope.desired, targets } : checked.last;
    outcome = { targets, report: joined(outcome.report, report), ...given({ last }) };
    first = await command.first?.next?.(outcome);
  } while (first !== undefined);
  const { closing = [], ...parts } = (await command.ending?.(outcome)) ?? {};
  // The same apply or uninstall finishes what it began; other commands may leave gateways closed.
  const isCut = outcome.report.observation === undefined && command.first === undefined;
  return endedRun(run, outcome, {
    ...parts,
    ...given({ playbook: file }),
    cluster: scope.desired.name,
    verb,
    lock: { path: cluster.lockPlace.path, written: false, additions: [], ...parts.lock },
    closing: isCut ? [...closing, ...closedLines(outcome.report)] : closing,
  });
}

/** The report of a command that does not run its first plan: it has no steps, or the user does not agree to it. */
async function withoutRun(run: Run, command: CommandSpec, first: ObservedPlan): Promise<PlaybookReport | undefined> {
  const report = nothingRun(command.scope.targets);
  if (run.signal.aborted) return { ...report, isInterrupted: true };
  const hasWork = hasMachineSteps(first.plan);
  const isAsked = hasWork || command.first?.isAlwaysAsked === true;
  if (isAsked && !(await command.consent.give(first.plan, questionOf(command, first.plan))))
    return { ...report, isDeclined: true };
  await command.first?.onAgreed?.(first);
  return hasWork ? undefined : report;
}

const questionOf = ({ verb, texts }: Pick<CommandSpec, 'verb' | 'texts'>, plan: Plan): string =>
  texts?.question?.(plan) ?? `${upperFirst(verb)}: run the plan above?`;

/** Shows each plan on a page. The consequences are certain, and shown, only if no change is waiting. */
function pageOf(
  run: Run,
  { texts }: Pick<CommandSpec, 'texts'>,
  { shown }: Pick<LockPlace, 'shown'>,
): (plan: Plan) => void {
  const lock = { shown, additions: [] };
  let next = texts?.leadsTo ?? [];
  return (plan) => {
    showPlan(run, plan, { lock, next: plan.waiting.length === 0 ? next : [] });
    next = [];
  };
}

/** True if a task of the playbook restarts Macs. */
const restarts = ({ plays }: Playbook): boolean =>
  plays.some(({ tasks }) =>
    tasks.some(
      (task) => task.kind === 'reboot' || updatesMacos(task) || (task.kind === 'goal' && task.goal.kind === 'reboot'),
    ),
  );

/** The scope of a playbook that restarts Macs also knows which of them this run can unlock at FileVault. */
async function withUnlocks(run: Run, playbook: Playbook, scope: PlayScope, ways: SshTargets): Promise<PlayScope> {
  if (!restarts(playbook)) return scope;
  const names = nodesOfPlays(playbook.plays, scope);
  const nodes = scope.desired.nodes.filter(({ name }) => names.includes(name));
  const unlocks = await unlockReadiness(run, { fleet: { nodes }, ways });
  return { ...scope, desired: { ...scope.desired, ...unlocks } };
}

type Round = Omit<CommandSpec, 'first'> & { readonly first: ObservedPlan | undefined };

/** The options with which a command runs its playbook: it shows progress, and each plan is confirmed before it runs. */
async function playbookOptions(
  run: Run,
  command: Round,
  ways: SshTargets,
  show: (plan: Plan) => void,
): Promise<PlaybookOptions> {
  const { scope, consent, first, texts, hooks = {} } = command;
  const view = runView(run);
  const wait = showWait(run.console);
  const endLines = (): Promise<void> => {
    wait.end();
    return view.end();
  };
  const { perform, ...ahead } = command.ahead ?? {};
  const prepared = await prepareRun(
    run,
    { ...hooks, verb: command.verb, desired: scope.desired },
    { ways, listen: view.listen },
  );
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
      await endLines();
      // A blank line separates the plan from earlier output.
      if (isLater && !run.options.json) run.console.out('\n');
      show(plan);
      await prepared.requireToken(plan);
      if (!(await consent.give(plan, questionOf(command, plan)))) return false;
      isLater = true;
      view.begin(plan);
      return true;
    },
    ...ahead,
    ...(perform === undefined ? {} : { perform: (work) => endLines().then(() => perform(work)) }),
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
      const text = texts?.task?.(work) ?? finishedText(work, run.signal.aborted);
      if (text !== undefined) await view.note(text);
      if (hooks.afterTask === undefined) return;
      await view.end();
      await hooks.afterTask(work, lost);
    },
    end: async () => {
      await endLines();
      prepared.close();
    },
  };
}

/** The text for a finished task that has no plan and no question. */
function finishedText({ task, nodes, failed, observation }: PlaybookWork, isInterrupted: boolean): string | undefined {
  const { kind } = task;
  // Without an observation, an interrupted task has no result. Commands are an exception: they have an exit status.
  const isCut = isInterrupted && kind !== 'run' && observation === undefined;
  const hasText = kind === 'run' || kind === 'wait' || kind === 'assert' || kind === 'verify' || kind === 'bake';
  return hasText ? taskText(task, nodes, { failed, isCut }) : undefined;
}

const switchedOff = ({ run }: PlaybookWork): readonly NodeName[] =>
  (run?.steps ?? []).flatMap((one) =>
    isDone(one) && one.step.act.kind === 'reboot' && one.step.act.to === 'off' ? [one.step.node] : [],
  );

const joined = (before: PlaybookReport, after: PlaybookReport): PlaybookReport => ({
  ...after,
  works: [...before.works, ...after.works],
  refusal: [...before.refusal, ...after.refusal],
});

/** The state in which a run left a gateway; `unsure` if the result of the closing step is unknown. */
interface LeftGateway {
  readonly placement: string;
  readonly node: NodeName;
  readonly state: 'open' | 'closed' | 'unsure';
}

/** For a run without a final check: the gateways that it closed, or where it waited, and how to reopen them. */
export function closedLines(report: Pick<PlaybookReport, 'works'>): readonly Prose[] {
  const gateways = new Map<string, LeftGateway>();
  for (const one of stepsOf(report).flatMap(gatewaysAfter)) gateways.set(`${one.node} ${one.placement}`, one);
  const left = [...gateways.values()].filter(({ state }) => state !== 'open');
  return [...new Set(left.map(({ placement }) => placement))].map((placement) =>
    lineOf(
      placement,
      left.filter((gateway) => gateway.placement === placement),
    ),
  );
}

function gatewaysAfter(report: StepReport): readonly LeftGateway[] {
  const { step, ms } = report;
  if (!isDone(report) && ms === 0) return [];
  if (step.act.kind === 'gate') {
    // A gate waits for requests only at a closed gateway.
    return step.act.expect.flatMap((patch): readonly LeftGateway[] => {
      const placement = inFlightOf(patch);
      return placement === undefined ? [] : [{ placement, node: patch.node, state: 'closed' }];
    });
  }
  return step.establishes.flatMap((patch): readonly LeftGateway[] => {
    const { node, value } = patch;
    const placement = gatewayStateOf(patch);
    if (placement === undefined || (value !== 'closed' && value !== 'open')) return [];
    return [{ placement, node, state: isDone(report) ? value : 'unsure' }];
  });
}

function lineOf(placement: string, gateways: readonly LeftGateway[]): Prose {
  const where = [...new Set(gateways.map(({ node }) => node))].join(' and ');
  const isSure = gateways.every(({ state }) => state === 'closed');
  const state = `${placement}: its gateway on ${where} ${isSure ? 'stays closed' : 'may be closed'}.`;
  return prose`${state} To reopen it: ${meshwright('start', placement)}, or the next apply.`;
}
