import type { PlaybookReport, PlaybookWork } from '../../apply/playbook-report.ts';
import type { LeaseRefusal, StepReport } from '../../apply/run-report.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Goal } from '../../engine/goals/goal.ts';
import type { Plan, Waiting } from '../../engine/plan/plan.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import type { Change } from '../../model/step.ts';
import type { AddressParts } from '../../model/subject.ts';
import type { Prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { awayNodes } from '../../rack/placement/state/layouts.ts';
import { codeForNodes, type ExitCode, exitCode, firstOf, type NodeVerdict, verdictOf } from '../exit-codes.ts';

/** Everything that came of one command that changes nodes. */
export interface RunOutcome {
  readonly targets: readonly NodeName[];
  readonly report: PlaybookReport;
  /** The plan of the last look; absent where nobody could look, or where nothing is left to be seen. */
  readonly last?: JudgedPlan;
  /** Why it did not go on, where consent was refused after something had been changed. */
  readonly refusal: readonly Diagnostic[];
  /** What a signal asks for. */
  readonly interruptedBy?: ExitCode;
}

/** What is told besides how the run itself came out. */
export interface OutcomeSurroundings {
  readonly cluster: string;
  readonly verb: string;
  /** The file of `run`. */
  readonly playbook?: string;
  readonly isSimulated: boolean;
  readonly lock: { readonly path: string; readonly written: boolean; readonly additions: readonly string[] };
  /** What the last look has found where nothing is left to do: `chat is stopped`. */
  readonly checked?: string;
  /** Sentences for people behind everything else, such as how Macs come back. */
  readonly closing?: readonly Prose[];
}

const isDone = ({ outcome }: StepReport): boolean => outcome === 'changed' || outcome === 'unchanged';

/** Every step of every plan that was run, then the clean-up, in the order in which they were run. */
export const stepsOf = ({ report }: RunOutcome): readonly StepReport[] =>
  report.works.flatMap(({ run }) => run?.steps ?? []);

/** The changes of every plan that was run. */
export const plannedChanges = ({ report }: RunOutcome): readonly Change[] =>
  report.works.flatMap(({ plan, run }) => (plan === undefined || run === undefined ? [] : plan.changes));

/** Nodes that other runs hold. */
export const refusalsOf = ({ report }: RunOutcome): readonly LeaseRefusal[] =>
  report.works.flatMap(({ refusals }) => refusals);

/** Problems of the run, in the order in which they came up, each once; those of the last look are in its plan. */
export const problemsOf = ({ report, refusal }: RunOutcome): readonly Diagnostic[] => [
  ...refusal,
  ...new Set(report.works.flatMap(({ diagnostics, run }) => [...diagnostics, ...(run?.diagnostics ?? [])])),
];

/** Every exit code that holds; 0 only when each target was seen as it should be after the last write. */
export function exitsOf(outcome: RunOutcome): readonly ExitCode[] {
  const { report, interruptedBy } = outcome;
  const isRefused = refusalsOf(outcome).length > 0;
  const hasRun = stepsOf(outcome).some(({ ms }) => ms > 0);
  const verdict = codeForNodes(verdictsOf(outcome));
  const isCut = report.isDeclined || report.isStopped || report.isInterrupted;
  return [
    ...(interruptedBy === undefined ? [] : [interruptedBy]),
    ...(isRefused ? [exitCode.leaseHeld] : []),
    ...(report.isDeclined && !hasRun ? [exitCode.nothingChanged] : []),
    // A run that was cut off before its end is no success, even if what was done of it went well.
    verdict === exitCode.done && isCut && outcome.last === undefined ? exitCode.partial : verdict,
  ];
}

/** The exit code of the command. */
export const exitOf = (outcome: RunOutcome): ExitCode => firstOf(exitsOf(outcome));

/** How each target came out: as the last look has seen it, without one as the works on it ended. */
function verdictsOf(outcome: RunOutcome): readonly NodeVerdict[] {
  const { targets, last } = outcome;
  const seen = last === undefined ? undefined : planVerdicts({ ...last, targets });
  return targets.map((name, index) => {
    if (seen === undefined) return verdictByWorks(name, outcome);
    return hasRestarted(name, outcome) ? (seen[index] ?? 'unjudged') : 'wrong';
  });
}

/**
 * A Mac that was to restart and did not is not as it was wanted, however well it looks. One that ended at FileVault
 * has restarted: the last look says whether it still waits there.
 */
const hasRestarted = (name: NodeName, outcome: RunOutcome): boolean =>
  stepsOf(outcome)
    .filter(({ step }) => step.node === name && step.act.kind === 'reboot')
    .every((one) => isDone(one) || one.outcome === 'blocked');

function verdictByWorks(name: NodeName, { report }: RunOutcome): NodeVerdict {
  const works = report.works.filter(({ nodes }) => nodes.includes(name));
  const plans = works.flatMap(({ plan }) => plan ?? []);
  const waiting = plans.flatMap((plan) => plan.waiting).filter(({ node }) => node === name);
  if (works.some((work) => work.failed.includes(name) && !isKept(name, work))) return 'wrong';
  if (works.length === 0 || plans.some(({ observed }) => !Object.hasOwn(observed, name))) return 'unjudged';
  if (waiting.some(({ isUnknown }) => isUnknown)) return 'unjudged';
  return waiting.length > 0 || plans.some((plan) => isBlocked(name, plan)) ? 'hands' : 'fine';
}

/**
 * Whether a work failed only because something kept it from being begun on a node: that is the work of hands, not a
 * failure of ours. A plan for the whole file never fails because something waits, and what waits in another work is no excuse for this one.
 */
function isKept(name: NodeName, { task, plan, run }: PlaybookWork): boolean {
  if (task.kind === 'converge' || task.kind === 'verify') return false;
  const isBegun = run?.steps.some(({ step }) => step.node === name) === true;
  return !isBegun && plan?.waiting.some(({ node, isUnknown }) => node === name && !isUnknown) === true;
}

const isBlocked = (name: NodeName, { blockers }: Plan): boolean =>
  blockers.some(({ node, peers }) => node === name || peers.includes(name));

/** A plan with what it is about. */
export interface JudgedPlan {
  readonly goal: Goal['kind'];
  readonly plan: Plan;
  readonly observation: FleetObservation;
  readonly fleet: DesiredFleet;
  readonly targets: readonly NodeName[];
}

/** How each target stands by a plan that was made from the last look at it. Unknown is neither right nor wrong. */
function planVerdicts(judged: JudgedPlan): readonly NodeVerdict[] {
  return judged.targets.map((name) => verdictFor(name, judged));
}

function verdictFor(name: NodeName, { goal, plan, observation, fleet, targets }: JudgedPlan): NodeVerdict {
  if (!Object.hasOwn(plan.observed, name)) {
    const failures = observation.failures[name] ?? [];
    return failures.length === 0 ? 'unjudged' : verdictOf(failures);
  }
  const isAbout = ({ node, about }: Pick<Waiting, 'node' | 'about'>): boolean =>
    node === name || membersOf(about, fleet).includes(name);
  const waiting = plan.waiting.filter(isAbout);
  const isOneUnseen = isOtherUnseen(name, { goal, plan, observation, targets });
  const isOwn = ({ isUnknown, about }: Waiting): boolean => isUnknown && !(isOneUnseen && isShared(about));
  if (waiting.some(isOwn)) return 'unjudged';
  if (plan.changes.some(isAbout)) return 'wrong';
  const isBlocked = plan.blockers.some(({ node, peers }) => node === name || peers.includes(name));
  return isBlocked || waiting.some(({ isUnknown }) => !isUnknown) ? 'hands' : 'fine';
}

/**
 * A cable has two ends and a placement several members. What nobody knows of them while a target is not seen counts
 * for that target, which is unjudged itself: the others are as far as the file can be brought on them, and of a placement
 * that is to be stopped each is stopped by itself. Whoever starts a placement wants all of it.
 */
const isShared = ({ kind }: AddressParts): boolean =>
  kind === 'thunderbolt-link' || kind === 'link-address' || kind === 'placement';

/** Whether nobody could judge another target; of what is to be stopped, one that did not say what runs there counts too. */
function isOtherUnseen(
  name: NodeName,
  { goal, plan, observation, targets }: Pick<JudgedPlan, 'goal' | 'plan' | 'observation' | 'targets'>,
): boolean {
  if (goal !== 'converge' && goal !== 'stop') return false;
  const unseen = targets.filter((target) => !Object.hasOwn(plan.observed, target));
  const mute = goal === 'stop' ? awayNodes(targets, observation) : [];
  return !mute.includes(name) && [...unseen, ...mute].length > 0;
}

/** A placement that does not serve is wrong on every member, wherever its property is kept; a rank by itself is only there. */
function membersOf({ kind, placement, part }: AddressParts, { placements }: DesiredFleet): readonly NodeName[] {
  return kind === 'placement' && part !== 'rank'
    ? (placements.find(({ name }) => name === placement)?.nodes ?? [])
    : [];
}

/** The code of a run that ended with this plan: 0 only when every target was seen as it should be. */
export const codeForPlan = (judged: JudgedPlan): ExitCode => codeForNodes(planVerdicts(judged));

/**
 * The code of a look that says what is pending: 2 while there is something that a run can change, in the lock too, 3
 * when only the work list is left; what could not be judged comes first.
 */
export function codeForPending(judged: JudgedPlan, additions: readonly string[]): ExitCode {
  const verdicts = planVerdicts(judged);
  if (verdicts.includes('unjudged')) return codeForUnjudged(verdicts);
  if (verdicts.includes('wrong') || additions.length > 0) return exitCode.changesPending;
  return verdicts.includes('hands') ? exitCode.handsNeeded : exitCode.done;
}

/** The code of a look that only asks whether everything could be judged. */
export const codeForLook = (judged: JudgedPlan): ExitCode => codeForUnjudged(planVerdicts(judged));

function codeForUnjudged(verdicts: readonly NodeVerdict[]): ExitCode {
  if (!verdicts.includes('unjudged')) return exitCode.done;
  return verdicts.every((verdict) => verdict === 'unjudged') ? exitCode.failed : exitCode.partial;
}
