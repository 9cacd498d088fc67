import { type PlaybookReport, stepsOf } from '../../apply/playbook-report.ts';
import { runPlaybook } from '../../apply/run-playbook.ts';
import { everyNode } from '../../desired/layouts.ts';
import { withoutNode, withoutWithdrawal, withWithdrawal } from '../../desired/settle/settle.ts';
import { hasTrait } from '../../diagnostics/diagnostic.ts';
import { fleetWithout } from '../../engine/goals/uninstall.ts';
import { makePlan } from '../../engine/plan/make-plan.ts';
import { inFleetOrder } from '../../engine/playbooks/expand.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import type { DesiredFleet, DesiredNode } from '../../model/desired.ts';
import { listText } from '../../model/lists.ts';
import type { NodeName } from '../../model/node.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import type { Goal } from '../../rack/goal.ts';
import { whereTheyRanLast } from '../../rack/placement/state/layouts.ts';
import { fitLines } from '../../report/page.ts';
import { hasMachineSteps } from '../../report/plan/plan-text.ts';
import { changeLock } from '../cluster/open-cluster.ts';
import { type SettledCluster, settleFromLock } from '../cluster/settle-cluster.ts';
import { openTargets, type SshTargets } from '../cluster/ssh-targets.ts';
import { namedNodes } from '../cluster/targets.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { LookedPlan } from '../look/look-and-plan.ts';
import { observeNodes } from '../look/observe-fleet.ts';
import { createConsent } from '../plan/consent.ts';
import { showPlan } from '../plan/plan-document.ts';
import type { Run, VerbBody } from '../verb.ts';
import { playbookOf } from './act-on.ts';
import { playbookOptions } from './change-nodes.ts';
import { nothingRun, outcomeOf, type RunOutcome, showOutcome } from './run-outcome.ts';

/** The result, the nodes that no longer accept a login, and a flag that shows whether the run has written the lock. */
interface Ended {
  readonly outcome: RunOutcome;
  readonly gone: readonly NodeName[];
  readonly isLockWritten?: boolean;
}

/** `uninstall NODE…|--all`: removes meshwright from nodes, SSH access last. */
export const uninstall: VerbBody = async (run) => {
  const call = uninstallCall(run);
  const observation = await observeNodes(run, call.toSee, call.ways);
  const wanted = uninstallationOf(run, call, observation);
  const gone = goneBefore(wanted, observation);
  const about = withoutGone(wanted, gone);
  const looked = planSeen(about, observation);
  if (!run.options.json && gone.length > 0)
    run.console.out(`${fitLines(goneText(gone), run.console.columns).join('\n')}\n\n`);
  show(run, about, looked, wanted.goal);
  return end(run, about, await carryOut(run, about, looked, gone));
};

const goneText = (gone: readonly NodeName[]): string =>
  `${listText(gone)} no longer ${gone.length === 1 ? 'accepts' : 'accept'} a login: an earlier uninstall removed SSH access, its last step.`;

function show(
  run: Run,
  { cluster, goal }: Uninstallation,
  { plan }: Pick<LookedPlan, 'plan'>,
  wanted: UninstallGoal = goal,
): void {
  const isSeen = goal.nodes.every((node) => Object.hasOwn(plan.observed, node));
  const nothing = isSeen ? { nothing: `meshwright is completely removed from ${listText(wanted.nodes)}.` } : {};
  showPlan(run, plan, { lock: { shown: cluster.lockPlace.shown, additions: [] }, ...nothing });
}

const questionFor = ({ nodes }: UninstallGoal): string => `Remove meshwright from ${listText(nodes)} as shown above?`;

async function carryOut(
  run: Run,
  about: Uninstallation,
  looked: LookedPlan,
  before: readonly NodeName[],
): Promise<Ended> {
  const { cluster, goal } = about;
  const consent = createConsent(run, {
    // Uninstalling implies stopping the placements. Models are deleted only with --models.
    named: ['interrupt', ...(goal.models ? (['delete'] as const) : [])],
    allowable: [],
    isAgreed: run.options.yes === true,
  });
  const hasWork = hasMachineSteps(looked.plan);
  if (!hasWork || !(await consent.give(looked.plan, questionFor(goal)))) {
    const report = { ...nothingRun(goal.nodes), isDeclined: hasWork };
    return { outcome: judged(about, looked, report), gone: before };
  }
  let isLockWritten = false;
  const options = await playbookOptions(run, {
    verb: 'uninstall',
    scope: { desired: about.fleet, targets: about.targets },
    ways: about.ways,
    consent,
    // If the run is interrupted after the last script, a refused login would not otherwise prove that the node is done.
    onWithdraw: async (node) => {
      if (await changeLock(cluster.lockPlace, (now) => withWithdrawal(now, node))) isLockWritten = true;
    },
    show: (next) => show(run, about, { plan: next }),
    question: () => questionFor(goal),
    first: looked,
  });
  const report = await runPlaybook(playbookOf('uninstall', goal), options);
  return { ...seen(about, report, before), isLockWritten };
}

const judged = ({ fleet, goal }: Uninstallation, looked: LookedPlan | undefined, report: PlaybookReport): RunOutcome =>
  outcomeOf(report, { goal: goal.kind, fleet, targets: goal.nodes }, looked);

/** The result, based on the last observation. A node that refuses the login after the last script is done. */
function seen(about: Uninstallation, report: PlaybookReport, before: readonly NodeName[]): Ended {
  const { observation } = report;
  if (observation === undefined) return { outcome: judged(about, undefined, report), gone: before };
  const now = goneNow(report, observation);
  const there = withoutGone(about, now);
  return { outcome: judged(there, planSeen(there, observation), report), gone: [...before, ...now] };
}

const isClean = (name: NodeName, { observed, changes, waiting, blockers }: LookedPlan['plan']): boolean =>
  Object.hasOwn(observed, name) && ![...changes, ...waiting, ...blockers].some(({ node }) => node === name);

async function end(
  run: Run,
  about: Uninstallation,
  { outcome, gone, isLockWritten = false }: Ended,
): Promise<ExitCode> {
  const { cluster, fleet } = about;
  const { report, last, targets } = outcome;
  const clean = last === undefined ? [] : targets.filter((name) => isClean(name, last.plan));
  const done = report.isDeclined ? [] : [...gone, ...clean].toSorted();
  const answered = last === undefined ? [] : targets.filter((name) => Object.hasOwn(last.plan.observed, name));
  const known = [...cluster.lock.nodes, ...Object.keys(cluster.lock.identities ?? {})];
  const isEndWritten = await changeLock(cluster.lockPlace, (now) => lockAfter(now, { done, gone, answered }));
  const told = done.filter((name) => known.includes(name));
  const closing = closingLines(told, gone, about);
  const lock = { path: cluster.lockPlace.path, written: isLockWritten || isEndWritten, additions: [] };
  const code = showOutcome(run, outcome, { cluster: fleet.name, verb: 'uninstall', lock, closing });
  // If nothing ran, the outcome prints no closing lines, but a change to the lock is still reported.
  if (report.works.length === 0 && !run.options.json && closing.length > 0)
    run.console.out(`\n${closing.flatMap((line) => fitLines(line, run.console.columns)).join('\n')}\n`);
  return code;
}

type After = Readonly<Record<'done' | 'gone' | 'answered', readonly NodeName[]>>;

/** Removes finished nodes from the lock. Marks of withdrawn SSH access stay until a login works again. */
const lockAfter = (now: ClusterLock, { done, gone, answered }: After): ClusterLock =>
  gone.reduce<ClusterLock>(withWithdrawal, withoutWithdrawal(done.reduce<ClusterLock>(withoutNode, now), answered));

function closingLines(
  done: readonly NodeName[],
  gone: readonly NodeName[],
  { cluster: { opened, lockPlace } }: Uninstallation,
): readonly string[] {
  if (done.length === 0) return [];
  const file = opened.path.slice(opened.path.lastIndexOf('/') + 1);
  return [
    ...(gone.length === 0
      ? []
      : [
          `${listText(gone)} no longer ${gone.length === 1 ? 'accepts' : 'accept'} a login: the SSH key of enroll is removed.`,
        ]),
    `Removed ${listText(done)} from ${lockPlace.shown}. Remove ${done.length === 1 ? 'it' : 'them'} from ${file} as well before the next apply.`,
  ];
}

type UninstallGoal = Extract<Goal, { kind: 'uninstall' }>;

/** The context of one uninstallation. */
export interface Uninstallation {
  readonly cluster: SettledCluster;
  readonly ways: SshTargets;
  /** The fleet without the placements on these nodes. */
  readonly fleet: DesiredFleet;
  readonly goal: UninstallGoal;
  /** These nodes, and the other nodes of their placements, where ranks are also stopped. */
  readonly targets: readonly NodeName[];
}

/** The request from the command line, before any observation. */
export interface UninstallCall extends Pick<Uninstallation, 'cluster' | 'ways'> {
  readonly nodes: readonly NodeName[];
  /** These nodes and all nodes of their placements, including fallbacks. */
  readonly toSee: readonly DesiredNode[];
}

/** Reads the request from the command line. @throws FleetError for targets that are not in the file */
function uninstallCall(run: Run): UninstallCall {
  const cluster = settleFromLock(run);
  const { fleet } = cluster;
  const nodes = namedNodes(run, fleet).map(({ name }) => name);
  const groups = fleet.placements.map(everyNode);
  const near = groups.filter((group) => group.some((node) => nodes.includes(node))).flat();
  const toSee = fleet.nodes.filter(({ name }) => [...nodes, ...near].includes(name));
  return { cluster, ways: openTargets(run, cluster.opened), nodes, toSee };
}

/** The request, with each placement on the nodes where it is running or last ran. */
export function uninstallationOf(
  { own }: Pick<Run, 'own'>,
  { cluster, ways, nodes }: UninstallCall,
  { nodes: seen }: FleetObservation,
): Uninstallation {
  const { fleet, placements } = fleetWithout(whereTheyRanLast(cluster.fleet, seen), nodes);
  const reaching = fleet.placements.filter(({ name }) => placements.includes(name)).flatMap((one) => one.nodes);
  const restore = own['restore'] === true;
  const models = own['models'] === true;
  return {
    cluster,
    fleet,
    ways,
    goal: { kind: 'uninstall', nodes, placements, restore, models },
    targets: inFleetOrder([...nodes, ...reaching], { desired: fleet }),
  };
}

const refusesLogin = ({ failures }: FleetObservation, node: NodeName): boolean =>
  failures[node]?.some((one) => hasTrait(one, 'login-refused')) === true;

/**
 * Nodes that refuse the login and are marked in the lock as withdrawing, which happens just before the script that
 * removes SSH access. Without this mark a refused login proves nothing, because a wrong key or account is also refused.
 */
export const goneBefore = ({ cluster, goal }: Uninstallation, observation: FleetObservation): readonly NodeName[] =>
  goal.nodes.filter((node) => refusesLogin(observation, node) && (cluster.lock.withdrawing ?? []).includes(node));

/** Nodes from which this run removed SSH access and which now refuse the login. */
function goneNow(report: Pick<PlaybookReport, 'works'>, observation: FleetObservation): readonly NodeName[] {
  const withdrawn = stepsOf(report).filter(
    ({ step: { act }, outcome }) =>
      act.kind === 'script' && act.name === 'withdraw-node' && (outcome === 'changed' || outcome === 'unknown'),
  );
  return withdrawn.map(({ step }) => step.node).filter((node) => refusesLogin(observation, node));
}

const withoutGone = (about: Uninstallation, gone: readonly NodeName[]): Uninstallation => ({
  ...about,
  goal: { ...about.goal, nodes: about.goal.nodes.filter((node) => !gone.includes(node)) },
  targets: about.targets.filter((node) => !gone.includes(node)),
});

/** The plan for the remaining targets. */
export function planSeen({ fleet, goal, targets }: Uninstallation, observation: FleetObservation): LookedPlan {
  const kept = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(record).filter(([name]) => targets.some((node) => node === name)));
  const seen = { nodes: kept(observation.nodes), failures: kept(observation.failures) };
  const plan = makePlan({ goal, desired: fleet, observation: seen, targets });
  return { plan, observation: seen };
}
