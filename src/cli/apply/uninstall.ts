import { type PlaybookReport, stepsOf } from '../../apply/playbook-report.ts';
import { everyNode } from '../../desired/layouts.ts';
import { withoutNode, withoutWithdrawal, withWithdrawal } from '../../desired/settle/settle.ts';
import { hasTrait } from '../../diagnostics/diagnostic.ts';
import { fleetWithout } from '../../engine/goals/uninstall.ts';
import { makePlan } from '../../engine/plan/make-plan.ts';
import { inFleetOrder } from '../../engine/playbooks/expand.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import type { DesiredFleet, DesiredNode } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { listText } from '../../model/lists.ts';
import type { NodeName } from '../../model/node.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import type { GoalOf } from '../../rack/goal.ts';
import { whereTheyRanLast } from '../../rack/placement/state/layouts.ts';
import { fitLines } from '../../report/page.ts';
import { changeLock } from '../cluster/open-cluster.ts';
import { type SettledCluster, settleFromLock } from '../cluster/settle-cluster.ts';
import { openTargets, type SshTargets } from '../cluster/ssh-targets.ts';
import { namedNodes } from '../cluster/targets.ts';
import type { ObservedPlan } from '../look/observe-and-plan.ts';
import { observeNodes } from '../look/observe-fleet.ts';
import { createConsent } from '../plan/consent.ts';
import { showPlan } from '../plan/plan-document.ts';
import type { Run, VerbBody } from '../verb.ts';
import { actOn, type CommandSpec } from './act-on.ts';

export const uninstall: VerbBody = async (run) => {
  const call = uninstallCall(run);
  const observation = await observeNodes(run, call.toSee, call.ways);
  const wanted = uninstallationOf(run, call, observation);
  const before = goneBefore(wanted, observation);
  const about = withoutGone(wanted, before);
  const planned = planSeen(about, observation);
  const { columns } = run.console;
  if (!run.options.json && before.length > 0) run.console.out(`${fitLines(goneText(before), columns).join('\n')}\n\n`);
  const { cluster, goal, fleet } = about;
  const isSeen = goal.nodes.every((node) => Object.hasOwn(planned.plan.observed, node));
  const nothing = `meshwright is completely removed from ${listText(wanted.goal.nodes)}.`;
  const lock = { shown: cluster.lockPlace.shown, additions: [] };
  showPlan(run, planned.plan, { lock, ...(isSeen && { nothing }) });
  const known = [...cluster.lock.nodes, ...Object.keys(cluster.lock.identities ?? {})];
  let isLockWritten = false;
  let closing: readonly string[] = [];
  const command: CommandSpec = {
    verb: 'uninstall',
    scope: { desired: fleet, targets: about.targets },
    // Uninstalling implies stopping the placements. Models are deleted only with --models.
    consent: createConsent(run, { named: ['interrupt', ...(goal.models ? (['delete'] as const) : [])] }),
    texts: { question: () => `Remove meshwright from ${listText(goal.nodes)} as shown above?` },
    goal,
    first: { planned },
    check: (report) => {
      const left = withoutGone(about, goneNow(report));
      const targets = left.goal.nodes;
      const last = report.observation && { goal: goal.kind, fleet, targets, ...planSeen(left, report.observation) };
      return { targets, ...given({ last }) };
    },
    // If the run is interrupted after the last script, a refused login would not otherwise prove that the node is done.
    hooks: {
      onWithdraw: async (node) => {
        if (await changeLock(cluster.lockPlace, (now) => withWithdrawal(now, node))) isLockWritten = true;
      },
    },
    ending: async ({ report, last, targets }) => {
      const gone = [...before, ...goneNow(report)];
      const clean = last === undefined ? [] : targets.filter((name) => isClean(name, last.plan));
      const done = report.isDeclined ? [] : [...gone, ...clean].toSorted();
      const answered = last === undefined ? [] : targets.filter((name) => Object.hasOwn(last.plan.observed, name));
      if (await changeLock(cluster.lockPlace, (now) => lockAfter(now, { done, gone, answered }))) isLockWritten = true;
      const forgotten = done.filter((name) => known.includes(name));
      closing = closingLines(forgotten, gone, about);
      return { lock: { written: isLockWritten }, closing };
    },
  };
  const ended = await actOn(run, command, cluster, about.ways);
  // If nothing ran, the outcome has no closing lines, but a change to the lock is still reported.
  if (ended.outcome.report.works.length > 0 || closing.length === 0) return ended;
  const lines = closing.flatMap((line) => fitLines(line, columns));
  return { ...ended, text: `${ended.text}\n${lines.join('\n')}\n` };
};

const loginText = (gone: readonly NodeName[]): string =>
  `${listText(gone)} no longer ${gone.length === 1 ? 'accepts' : 'accept'} a login`;

const goneText = (gone: readonly NodeName[]): string =>
  `${loginText(gone)}: an earlier uninstall removed SSH access, its last step.`;

const isClean = (name: NodeName, { observed, changes, waiting, blockers }: ObservedPlan['plan']): boolean =>
  Object.hasOwn(observed, name) && ![...changes, ...waiting, ...blockers].some(({ node }) => node === name);

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
    ...(gone.length === 0 ? [] : [`${loginText(gone)}: the SSH key of enroll is removed.`]),
    `Removed ${listText(done)} from ${lockPlace.shown}. Remove ${done.length === 1 ? 'it' : 'them'} from ${file} as well before the next apply.`,
  ];
}

export interface Uninstallation {
  readonly cluster: SettledCluster;
  readonly ways: SshTargets;
  /** The fleet without the placements on these nodes. */
  readonly fleet: DesiredFleet;
  readonly goal: GoalOf<'uninstall'>;
  /** These nodes, and the other nodes of their placements, where ranks are also stopped. */
  readonly targets: readonly NodeName[];
}

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
function goneNow(report: Pick<PlaybookReport, 'works' | 'observation'>): readonly NodeName[] {
  const { observation } = report;
  if (observation === undefined) return [];
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

export function planSeen({ fleet, goal, targets }: Uninstallation, observation: FleetObservation): ObservedPlan {
  const ofTargets = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(record).filter(([name]) => targets.some((node) => node === name)));
  const seen = { nodes: ofTargets(observation.nodes), failures: ofTargets(observation.failures) };
  const plan = makePlan({ goal, desired: fleet, observation: seen, targets });
  return { plan, observation: seen };
}
