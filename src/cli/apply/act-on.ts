import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { isDone } from '../../apply/execute.ts';
import { type PlaybookReport, stepsOf } from '../../apply/playbook-report.ts';
import { runPlaybook } from '../../apply/run-playbook.ts';
import { hasErrors } from '../../diagnostics/diagnostic.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import { fleetForGoal } from '../../engine/goals/registry.ts';
import { goalPlacements } from '../../engine/goals/scope.ts';
import { makePlan } from '../../engine/plan/make-plan.ts';
import type { Plan, StepReport } from '../../engine/plan/plan.ts';
import { inFleetOrder, needsTargets, nodesOfPlays, type PlayScope } from '../../engine/playbooks/expand.ts';
import { loadPlaybook } from '../../engine/playbooks/load.ts';
import type { Playbook, Task } from '../../engine/playbooks/playbook.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import type { Goal } from '../../rack/goal.ts';
import { gatewayStateOf, inFlightOf } from '../../rack/placement/endpoint/gateway-steps.ts';
import { type OpenedCluster, openCluster, refuseErrors, refuseOpenToOthers } from '../cluster/open-cluster.ts';
import { refuseUnresolved, type SettledCluster, settleCluster, settleFromLock } from '../cluster/settle-cluster.ts';
import { openTargets, type SshTargets } from '../cluster/ssh-targets.ts';
import { namedNodes } from '../cluster/targets.ts';
import type { ExitCode } from '../exit-codes.ts';
import { readFile, readIfThere, shownPath } from '../files/read-file.ts';
import type { LookedPlan } from '../look/look-and-plan.ts';
import { createConsent, type GuardedEffect } from '../plan/consent.ts';
import { showPlan } from '../plan/plan-document.ts';
import { showDiagnostics } from '../terminal/console.ts';
import { unlockedByItself, withUnlocks } from '../unlock/unlock-by-itself.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';
import { playbookOptions, type RunHooks } from './change-nodes.ts';
import { outcomeOf, type RunOutcome, showOutcome, withKeptStops } from './run-outcome.ts';

const folder = new URL('../../../playbooks/', import.meta.url);

const shipped = ['apply', 'drain', 'restart', 'reboot', 'shutdown'] as const;

/** The commands defined by playbooks in this package. */
type ShippedPlaybook = (typeof shipped)[number];

const isShipped = (word: string): word is ShippedPlaybook => shipped.some((name) => name === word);

/**
 * A playbook from this package, read only from the package's own folder so that no user file can replace it.
 * @throws Error if the package is damaged
 */
export function shippedPlaybook(name: ShippedPlaybook): Playbook {
  const file = `${name}.yaml`;
  const { playbook, diagnostics } = loadPlaybook(readFileSync(new URL(file, folder)), { file, name });
  if (playbook === undefined)
    throw new Error(`${file} is damaged: ${plainText(diagnostics[0]?.detail ?? 'it is empty')}`);
  return playbook;
}

/** A playbook that runs these tasks on the targets of a command. */
export const playbookOf = (name: string, ...tasks: readonly Task[]): Playbook => ({
  name,
  plays: [{ nodes: { kind: 'targets' }, serial: [], maxFailures: 0, tasks }],
});

/** A command's playbook and scope, and the checks of its result. */
export interface Action extends RunHooks {
  readonly verb: string;
  readonly playbook: Playbook;
  /** For `run`: the displayed path of the file. */
  readonly file?: string;
  readonly scope: PlayScope;
  /** Effects that the command implies, such as `reboot`. */
  readonly named: readonly GuardedEffect[];
  /** Effects that the user can name in `--allow`; absent if the command implies all of them. */
  readonly allowable?: readonly GuardedEffect[];
  /** The nodes whose state determines the exit code. */
  readonly judged: readonly NodeName[];
  /** The same nodes, if they depend on the last observation. */
  readonly judgedAt?: (observation: FleetObservation) => readonly NodeName[];
  /** The goal of the final check; absent if the steps themselves determine the result. */
  readonly goal?: Goal;
  /** The text of a plan without changes, if it is not the default. */
  readonly nothing?: string;
  /** The consequences beyond the first plan's own changes, one sentence each. */
  readonly leadsTo?: readonly Prose[];
  /** The result of the final check if nothing is left to do: `chat is stopped`. */
  readonly checked?: string;
  /** Sentences after the last line, based on the report. */
  readonly closing?: (report: PlaybookReport) => readonly Prose[];
  /** Sentences after the last line, based on the last observation. */
  readonly lastWords?: (observation: FleetObservation) => readonly Prose[];
  /** Completes the command's entry in the lock; resolves to true if the command has written the lock. */
  readonly keepLock?: (outcome: RunOutcome) => Promise<boolean>;
}

/** Runs a playbook from the first observation to the final check, and shows the result. */
export async function actOn(
  run: Run,
  action: Action,
  { cluster, ways }: { readonly cluster: SettledCluster; readonly ways: SshTargets },
): Promise<ExitCode> {
  const { verb, playbook, scope, named, file } = action;
  const { lockPlace } = cluster;
  const lock = { shown: lockPlace.shown, additions: [] };
  const unlocked = await unlockedByItself(run, playbook, {
    fleet: { nodes: scope.desired.nodes.filter(({ name }) => scope.targets.includes(name)) },
    ways,
  });
  let next = action.leadsTo ?? [];
  const show = (plan: Plan): void => {
    // If changes are waiting, the consequences are uncertain.
    const sure = plan.waiting.length === 0 ? next : [];
    showPlan(run, withUnlocks(plan, unlocked), { lock, next: sure, ...given({ nothing: action.nothing }) });
    next = [];
  };
  const consent = createConsent(run, { named, allowable: action.allowable ?? [], isAgreed: run.options.yes === true });
  // Only users' playbooks have their own description; the help describes our own commands.
  if (file !== undefined && playbook.about !== undefined && !run.options.json) run.console.out(`${playbook.about}\n\n`);
  const question = (): string => `${verb.charAt(0).toUpperCase()}${verb.slice(1)}: run the plan above?`;
  const { onLeased, afterTask, tells } = action;
  const about = { verb, scope, ways, consent, show, question, isForeseen: file !== undefined };
  const hooks = given({ onLeased, afterTask, tells });
  const report = await runPlaybook(playbook, await playbookOptions(run, { ...about, ...hooks }));
  const judged = (report.observation && action.judgedAt?.(report.observation)) ?? action.judged;
  const last =
    report.observation === undefined
      ? undefined
      : lookedPlan({ ...action, judged }, { ...report, observation: report.observation });
  const goal = action.goal?.kind ?? 'converge';
  const outcome = outcomeOf(report, { goal, fleet: scope.desired, targets: judged }, last);
  const isLockWritten = (await action.keepLock?.(outcome)) ?? false;
  return showOutcome(run, outcome, {
    cluster: scope.desired.name,
    verb,
    lock: { path: lockPlace.path, written: isLockWritten, additions: [] },
    ...given({ playbook: file, checked: action.checked }),
    closing: [
      ...(action.closing?.(report) ?? []),
      ...(report.observation === undefined ? closedLines(report) : (action.lastWords?.(report.observation) ?? [])),
    ],
  });
}

/** The final check. If a start waits only for nodes that are not targets, the check includes them. */
export function lookedPlan(
  { goal, scope, judged }: Pick<Action, 'goal' | 'scope' | 'judged'>,
  { observation, works }: Required<Pick<PlaybookReport, 'observation' | 'works'>>,
): LookedPlan | undefined {
  if (goal === undefined) return undefined;
  const { desired } = scope;
  const planFor = (targets: readonly NodeName[]): Plan => makePlan({ goal, desired, observation, targets });
  const own = planFor(judged);
  const members =
    goal.kind === 'start'
      ? goalPlacements(goal, fleetForGoal(goal, desired, observation)).flatMap(({ nodes }) => nodes)
      : [];
  const isUnblocked = own.waiting.some(({ for: reasons }) =>
    reasons.every(({ isUnknown, blocker }) => !isUnknown && blocker === undefined),
  );
  const looked = isUnblocked ? planFor(inFleetOrder([...judged, ...members], scope)) : own;
  const plan = goal.kind === 'start' ? withKeptStops(looked, { works }) : looked;
  return { plan, observation };
}

/** The state in which a run left a gateway; `unsure` if the result of the closing step is unknown. */
interface LeftGateway {
  readonly placement: string;
  readonly node: NodeName;
  readonly state: 'open' | 'closed' | 'unsure';
}

/**
 * For a run without a final check, lists the gateways that the run closed and did not reopen or where it waited for
 * requests in flight, and explains how to reopen them. One line per placement.
 */
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
  const told = `${placement}: its gateway on ${where} ${isSure ? 'stays closed' : 'may be closed'}.`;
  return prose`${told} To reopen it: ${meshwright('start', placement)}, or the next apply.`;
}

const allowable = ['interrupt', 'reboot', 'shutdown', 'rdma-start'] as const;

/** `run FILE [NODE…|--all]`: runs a user's playbook. */
export const runFile: VerbBody = async (run) => {
  const [file, ...words] = run.words;
  if (file === undefined)
    throw usageError('No playbook was specified.', prose`Name its file: ${meshwright('run', 'playbook.yaml')}`);
  const opened = openCluster(run);
  const { playbook, shown } = openPlaybook(run, file, opened.fleet);
  const cluster = await settleFor(run, playbook, opened);
  const { fleet } = cluster;
  const scope = { desired: fleet, targets: targetsOf({ ...run, words }, playbook, fleet) };
  const ways = openTargets(run, cluster.opened);
  const judged = nodesOfPlays(playbook.plays, scope);
  const action: Action = { verb: 'run', playbook, file: shown, scope, named: [], allowable, judged };
  return actOn(run, action, { cluster, ways });
};

/** Tasks that compare nodes with the whole file need a complete lock. All other tasks act on applied placements. */
async function settleFor(run: Run, { plays }: Playbook, opened: OpenedCluster): Promise<SettledCluster> {
  const tasks = plays.flatMap((play) => play.tasks);
  if (!tasks.some(({ kind }) => kind === 'converge' || kind === 'verify')) return settleFromLock(run, opened);
  const cluster = await settleCluster(run, opened);
  refuseUnresolved(run, cluster);
  return cluster;
}

/** @throws FleetError `cli/cannot-read`, or all errors in the file with their positions */
function openPlaybook(
  run: Run,
  file: string,
  fleet: DesiredFleet,
): { readonly playbook: Playbook; readonly shown: string } {
  const path = resolve(run.folder, file);
  const shown = shownPath(run.folder, path);
  if (/^[a-z]+$/.test(file) && readIfThere(path, shown) === undefined) {
    const verb = isShipped(file) ? prose`${file} is a command: ${meshwright(file)}. ` : '';
    throw usageError(
      `There is no file ${file} here.`,
      prose`${verb}Name a playbook by its file name, such as ./own.yaml.`,
    );
  }
  const read = readFile(path, shown);
  refuseOpenToOthers(run, shown, read);
  const { bytes, text } = read;
  const { playbook, diagnostics } = loadPlaybook(bytes, { file: shown, name: basename(shown), fleet });
  refuseErrors(diagnostics, { [shown]: text });
  if (playbook === undefined) throw new Error('a playbook without errors was read');
  if (!run.options.json && !hasErrors(diagnostics)) showDiagnostics(run.console, diagnostics, { [shown]: text });
  return { playbook, shown };
}

/** The nodes named on the command line; a playbook with `nodes: targets` requires at least one. */
function targetsOf(run: Run, playbook: Playbook, fleet: DesiredFleet): readonly NodeName[] {
  const isNamed = run.words.length > 0 || run.own['all'] === true;
  const isNarrowed = run.options.nodes !== undefined || run.options.label !== undefined;
  if (needsTargets(playbook.plays)) return namedNodes(run, fleet).map(({ name }) => name);
  if (isNamed || isNarrowed) {
    throw usageError('This playbook names its own nodes.', 'Leave out the nodes, or write `nodes: targets` in it.');
  }
  return [];
}
