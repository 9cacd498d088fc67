import type { PlaybookReport } from '../../apply/playbook-report.ts';
import { listText } from '../../desired/did-you-mean.ts';
import { withoutNode, withoutWithdrawal, withWithdrawal } from '../../desired/settle/lock-nodes.ts';
import type { Playbook } from '../../engine/playbooks/playbook.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import type { NodeName } from '../../model/node.ts';
import { fitLines } from '../../report/layout.ts';
import { hasMachineSteps } from '../../report/plan/plan-text.ts';
import { changeLock } from '../cluster/lock-file.ts';
import type { LookedPlan } from '../look/look-and-plan.ts';
import { observeNodes } from '../look/observe-fleet.ts';
import { createConsent } from '../plan/consent.ts';
import { showPlan } from '../plan/show-plan.ts';
import { exitOfSignal } from '../terminal/signals.ts';
import type { ExitCode } from '../verb/exit-codes.ts';
import type { Run, VerbBody } from '../verb/verb.ts';
import { changeNodes, type EndedChange } from './change-nodes.ts';
import type { RunOutcome } from './run-outcome.ts';
import { showOutcome } from './show-outcome.ts';
import {
  goneBefore,
  goneNow,
  planSeen,
  type Uninstallation,
  type UninstallGoal,
  uninstallationOf,
  uninstallCall,
  withoutGone,
} from './uninstallation.ts';

/** How far it came, and who lets nobody in any more. */
interface Ended {
  readonly outcome: RunOutcome;
  readonly gone: readonly NodeName[];
}

/** `uninstall NODE…|--all`: takes everything of us off nodes, and the way in at last. */
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
  `Nobody gets into ${listText(gone)}: uninstall took the way in away, which it does last of all.`;

function show(
  run: Run,
  { cluster, ways, goal }: Uninstallation,
  { plan }: Pick<LookedPlan, 'plan'>,
  wanted: UninstallGoal = goal,
): void {
  const isSeen = goal.nodes.every((node) => Object.hasOwn(plan.observed, node));
  const nothing = isSeen ? { nothing: `Nothing of meshwright is left on ${listText(wanted.nodes)}.` } : {};
  const lock = { shown: cluster.lockPlace.shown, additions: [] };
  showPlan(run, plan, { isSimulated: ways.isSimulated, lock, budgets: undefined, next: [], ...nothing });
}

const questionFor = ({ nodes }: UninstallGoal): string => `Take meshwright off ${listText(nodes)} as shown above?`;

const playbookFor = (goal: UninstallGoal): Playbook => ({
  name: 'uninstall',
  plays: [{ nodes: { kind: 'targets' }, serial: [], maxFailures: 0, tasks: [goal] }],
});

const nothingRun = (nodes: readonly NodeName[], isDeclined: boolean): PlaybookReport => ({
  works: [],
  nodes,
  isStopped: false,
  isDeclined,
  isInterrupted: false,
});

async function carryOut(
  run: Run,
  about: Uninstallation,
  looked: LookedPlan,
  before: readonly NodeName[],
): Promise<Ended> {
  const { cluster, goal } = about;
  const consent = createConsent(run, {
    // Whoever takes a node out wants what runs there stopped; models go where that was said.
    named: ['interrupt', ...(goal.models ? (['delete'] as const) : [])],
    allowable: [],
    isAgreed: run.options.yes === true,
  });
  const hasWork = hasMachineSteps(looked.plan);
  if (!hasWork || !(await consent.give(looked.plan, questionFor(goal)))) {
    const report = nothingRun(goal.nodes, hasWork);
    return { outcome: judged(about, looked, { report, refusal: [] }), gone: before };
  }
  const change = await changeNodes(run, {
    verb: 'uninstall',
    playbook: playbookFor(goal),
    scope: { desired: about.fleet, targets: about.targets },
    ways: about.ways,
    consent,
    // A run that is cut off behind the last script could not tell a node without us from one that refuses us.
    onWithdraw: async (node) => {
      await changeLock(cluster.lockPlace, (now) => withWithdrawal(now, node));
    },
    show: (next) => show(run, about, { plan: next }),
    apart: () => {
      if (!run.options.json) run.console.out('\n');
    },
    question: () => questionFor(goal),
    first: looked,
  });
  return seen(about, change, before);
}

const judged = (
  { fleet, goal }: Uninstallation,
  looked: LookedPlan | undefined,
  { report, refusal }: EndedChange,
): RunOutcome => ({
  targets: goal.nodes,
  report,
  refusal,
  ...(looked === undefined ? {} : { last: { goal: goal.kind, ...looked, fleet, targets: goal.nodes } }),
});

/** What the last look tells; who lets nobody in behind the last script has nothing of us any more. */
function seen(about: Uninstallation, change: EndedChange, before: readonly NodeName[]): Ended {
  const { observation } = change.report;
  if (observation === undefined) return { outcome: judged(about, undefined, change), gone: before };
  const now = goneNow(change.report, observation);
  const there = withoutGone(about, now);
  return { outcome: judged(there, planSeen(there, observation), change), gone: [...before, ...now] };
}

const isClean = (name: NodeName, { observed, changes, waiting, blockers }: LookedPlan['plan']): boolean =>
  Object.hasOwn(observed, name) && ![...changes, ...waiting, ...blockers].some(({ node }) => node === name);

async function end(run: Run, about: Uninstallation, { outcome, gone }: Ended): Promise<ExitCode> {
  const { cluster, ways, fleet } = about;
  const { report, last, targets } = outcome;
  const interruptedBy = exitOfSignal(run.signal);
  const clean = last === undefined ? [] : targets.filter((name) => isClean(name, last.plan));
  const done = report.isDeclined ? [] : [...gone, ...clean].toSorted();
  const answered = last === undefined ? [] : targets.filter((name) => Object.hasOwn(last.plan.observed, name));
  const known = [...cluster.lock.nodes, ...Object.keys(cluster.lock.identities ?? {})];
  const isLockWritten = await changeLock(cluster.lockPlace, (now) => lockAfter(now, { done, gone, answered }));
  const told = done.filter((name) => known.includes(name));
  const closing = closingLines(told, gone, about);
  const code = showOutcome(
    run,
    { ...outcome, ...(interruptedBy === undefined ? {} : { interruptedBy }) },
    {
      cluster: fleet.name,
      verb: 'uninstall',
      isSimulated: ways.isSimulated,
      lock: { path: cluster.lockPlace.path, written: isLockWritten, additions: [] },
      closing,
    },
  );
  // Where nothing was run, the outcome has no closing words; that the lock has changed is said all the same.
  if (report.works.length === 0 && !run.options.json && closing.length > 0)
    run.console.out(`\n${closing.flatMap((line) => fitLines(line, run.console.columns)).join('\n')}\n`);
  return code;
}

interface After {
  readonly done: readonly NodeName[];
  readonly gone: readonly NodeName[];
  readonly answered: readonly NodeName[];
}

/** Who is done is forgotten; why a node refuses the login from now on is kept, until somebody gets in again. */
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
    ...(gone.length === 0 ? [] : [`Nobody gets into ${listText(gone)} any more: the key of enroll was the way in.`]),
    `${lockPlace.shown} has forgotten ${listText(done)}. Take ${done.length === 1 ? 'it' : 'them'} out of ${file} before the next apply.`,
  ];
}
