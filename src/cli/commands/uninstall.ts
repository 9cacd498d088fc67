import type { PlaybookReport } from '../../apply/playbook-report.ts';
import { listText } from '../../desired/did-you-mean.ts';
import { withoutNode } from '../../desired/lock-nodes.ts';
import { nodesToSee } from '../../desired/nodes-to-see.ts';
import type { NodeName } from '../../model/node.ts';
import type { Playbook } from '../../playbooks/playbook.ts';
import { fitLines } from '../../report/layout.ts';
import { hasMachineSteps } from '../../report/plan-text.ts';
import { changeNodes, type EndedChange } from '../change-nodes.ts';
import { createConsent } from '../consent.ts';
import type { ExitCode } from '../exit-codes.ts';
import { changeLock } from '../lock-file.ts';
import type { LookedPlan } from '../look-and-plan.ts';
import { observeNodes } from '../observe-fleet.ts';
import type { RunOutcome } from '../run-outcome.ts';
import { showOutcome } from '../show-outcome.ts';
import { showPlan } from '../show-plan.ts';
import { exitOfSignal } from '../signals.ts';
import {
  goneBefore,
  goneNow,
  planSeen,
  type Uninstallation,
  type UninstallGoal,
  uninstallationOf,
  withoutGone,
} from '../uninstallation.ts';
import type { Run, VerbBody } from '../verb.ts';

/** How far it came, and who lets nobody in any more. */
interface Ended {
  readonly outcome: RunOutcome;
  readonly gone: readonly NodeName[];
  readonly isLockWritten: boolean;
}

/** `uninstall NODE…|--all`: takes everything of us off nodes, and the way in at last. */
export const uninstall: VerbBody = async (run) => {
  const wanted = uninstallationOf(run);
  const { fleet, targets, ways } = wanted;
  const observation = await observeNodes(run, nodesToSee(fleet, targets), ways);
  const gone = goneBefore(wanted, observation);
  const about = withoutGone(wanted, gone);
  const looked = planSeen(about, observation);
  if (!run.options.json && gone.length > 0)
    run.console.out(`${fitLines(goneText(gone), run.console.columns).join('\n')}\n\n`);
  show(run, about, looked, wanted.goal);
  return end(run, about, await carryOut(run, about, looked));
};

const goneText = (gone: readonly NodeName[]): string =>
  `Nobody gets into ${listText(gone)}, and by the lock nothing is set up there any more.`;

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

async function carryOut(run: Run, about: Uninstallation, looked: LookedPlan): Promise<Ended> {
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
    return { outcome: judged(about, looked, { report, refusal: [] }), gone: [], isLockWritten: false };
  }
  // A run that is cut off behind the last script could not tell a node without us from one that refuses us.
  const isSetUp = (name: string): boolean => !goal.nodes.some((node) => node === name);
  await changeLock(cluster.lockPlace, (now) => ({ ...now, nodes: now.nodes.filter(isSetUp) }));
  const change = await changeNodes(run, {
    verb: 'uninstall',
    playbook: playbookFor(goal),
    scope: { desired: about.fleet, targets: about.targets },
    ways: about.ways,
    consent,
    show: (next) => show(run, about, { plan: next }),
    apart: () => {
      if (!run.options.json) run.console.out('\n');
    },
    question: () => questionFor(goal),
    first: looked,
  });
  return seen(about, change);
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
function seen(about: Uninstallation, change: EndedChange): Ended {
  const { observation } = change.report;
  if (observation === undefined) return { outcome: judged(about, undefined, change), gone: [], isLockWritten: true };
  const gone = goneNow(change.report, observation);
  const there = withoutGone(about, gone);
  return { outcome: judged(there, planSeen(there, observation), change), gone, isLockWritten: true };
}

const isClean = (name: NodeName, { observed, changes, waiting }: LookedPlan['plan']): boolean =>
  Object.hasOwn(observed, name) && ![...changes, ...waiting].some(({ node }) => node === name);

async function end(run: Run, about: Uninstallation, { outcome, gone, isLockWritten }: Ended): Promise<ExitCode> {
  const { cluster, ways, fleet } = about;
  const { report, last, targets } = outcome;
  const interruptedBy = exitOfSignal(run.signal);
  const clean = last === undefined ? [] : targets.filter((name) => isClean(name, last.plan));
  const done = report.works.length === 0 ? [] : [...gone, ...clean].toSorted();
  if (done.length > 0) await changeLock(cluster.lockPlace, (now) => done.reduce<typeof now>(withoutNode, now));
  return showOutcome(
    run,
    { ...outcome, ...(interruptedBy === undefined ? {} : { interruptedBy }) },
    {
      cluster: fleet.name,
      verb: 'uninstall',
      isSimulated: ways.isSimulated,
      lock: { path: cluster.lockPlace.path, written: isLockWritten, additions: [] },
      closing: closingLines(done, gone, about),
    },
  );
}

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
