import { isDone } from '../../apply/execute.ts';
import { type LeaseRefusal, leaseHeld } from '../../apply/lease/lease-keeper.ts';
import { type PlaybookReport, type PlaybookWork, stepsOf } from '../../apply/playbook-report.ts';
import { isMadeFirst } from '../../desired/settle/settle-runtime.ts';
import { firmSpace } from '../../diagnostics/cells.ts';
import { type Diagnostic, hasTrait, isHandsWork } from '../../diagnostics/diagnostic.ts';
import { documentHead } from '../../diagnostics/json.ts';
import { proseText, type Reader } from '../../diagnostics/prose-text.ts';
import type { Plan, StepReport, Waiting } from '../../engine/plan/plan.ts';
import { kindOfTask } from '../../engine/playbooks/playbook.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { ReportDocument } from '../../model/documents.generated.ts';
import { given } from '../../model/given.ts';
import { alike } from '../../model/lists.ts';
import type { NodeName } from '../../model/node.ts';
import type { Change, Step } from '../../model/step.ts';
import { type AddressParts, isSameSubject } from '../../model/subject.ts';
import type { Prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import type { Goal } from '../../rack/goal.ts';
import { awayNodes } from '../../rack/placement/state/layouts.ts';
import { findingLines, gatherAlike, mergeFindings } from '../../report/findings.ts';
import { unreachedField } from '../../report/nodes-text.ts';
import { fitLines, type Page } from '../../report/page.ts';
import { blockerBlocks, neededFor, type Pending, pendingJson, waitingLines } from '../../report/plan/pending.ts';
import {
  countRun,
  countUnchecked,
  type RunCounts,
  type RunEnd,
  summaryText,
  uncheckedText,
} from '../../report/run/apply-text.ts';
import { codeForNodes, type ExitCode, exitCode, firstOf, type NodeVerdict, verdictOf } from '../exit-codes.ts';
import { diagnosticsJson, type Ended, pageFor, paragraphText } from '../terminal/console.ts';
import { exitOfSignal } from '../terminal/signals.ts';
import { mendingText, type Run } from '../verb.ts';

const endWords: Readonly<Partial<Record<ExitCode, RunEnd>>> = {
  [exitCode.done]: 'done',
  [exitCode.handsNeeded]: 'hands needed',
  [exitCode.partial]: 'partial',
  [exitCode.nothingChanged]: 'nothing changed',
  [exitCode.leaseHeld]: 'nothing changed',
  [exitCode.interrupted]: 'interrupted',
  [exitCode.terminated]: 'interrupted',
};

export interface EndedRun extends Ended<ReportDocument> {
  readonly exit: ExitCode;
  readonly outcome: RunOutcome;
}

export function endedRun(run: Run, ended: RunOutcome, about: OutcomeSurroundings): EndedRun {
  const outcome = { ...ended, ...given({ interruptedBy: exitOfSignal(run.signal) }) };
  const counts = countsOf(outcome);
  const diagnostics = allProblems(outcome);
  const { last } = outcome;
  return {
    outcome,
    exit: exitOf(outcome),
    document: reportJson(outcome, { ...about, counts, diagnostics }, run.console),
    problems: gatherAlike([...diagnostics, ...newOffers(outcome)]),
    text: outcomeText(run, outcome, { ...about, counts }),
    events: [
      ...diagnostics.map((diagnostic) => ({ kind: 'finding' as const, diagnostic })),
      ...(last === undefined ? [] : [{ kind: 'plan' as const, plan: last.plan }]),
    ],
  };
}

function outcomeText(
  { console }: Run,
  outcome: RunOutcome,
  about: Pick<ReportSurroundings, 'checked' | 'closing' | 'counts'>,
): string {
  const page = pageFor(console);
  const code = exitOf(outcome);
  const { last, report } = outcome;
  const hasRun = report.works.length > 0;
  // If nothing ran, the plan above is sufficient.
  if (!hasRun && code !== exitCode.nothingChanged) return '';
  const blockers = (last?.plan ?? remainingWork(report))?.blockers ?? [];
  const list = hasRun ? blockerBlocks(blockers, page) : [];
  const end = endOf(code, outcome, blockers);
  const text = last === undefined ? uncheckedText(end, about.counts) : summaryText(end, about.counts, about.checked);
  const closing = (about.closing ?? []).flatMap((line) => fitLines(proseText(line, page, firmSpace), page.columns));
  const blocks = [
    ...unshownBlocks(outcome, page),
    ...list,
    fitLines(text, page.columns),
    ...(closing.length === 0 ? [] : [closing]),
  ];
  const isMended = page.isSimulated && hasRun && blockers.some(({ isHands }) => isHands);
  const shown = blocks.map((lines) => `\n${lines.join('\n')}\n`).join('');
  return isMended ? `${shown}\n${paragraphText(console, mendingText)}` : shown;
}

/** Fallbacks that can be started since a start of this run failed. Earlier offers were shown with their plan. */
export function newOffers({ report: { works }, last }: RunOutcome): readonly Diagnostic[] {
  const offers = (plan: Plan | undefined): readonly Diagnostic[] =>
    plan?.diagnostics.filter((one) => hasTrait(one, 'fallback')) ?? [];
  const shown = works.flatMap(({ plan }) => offers(plan));
  if (works.every(({ run }) => run === undefined)) return [];
  return offers(last?.plan).filter(({ subject }) => !shown.some((one) => isSameSubject(one.subject, subject)));
}

/** The waiting changes and findings that explain why nothing could run, if no plan was shown for this reason. */
function unshownBlocks({ report, last }: RunOutcome, page: Page): readonly (readonly string[])[] {
  const isShown = report.isDeclined || report.works.some(({ run }) => run !== undefined);
  const plans = report.works.flatMap(({ plan }) => plan ?? []);
  const remaining = last?.plan ?? remainingWork(report) ?? { waiting: [], blockers: [] };
  const isLost = [...plans, ...(last === undefined ? [] : [last.plan])].some(
    ({ unreached }) => unreached !== undefined,
  );
  if (isShown || report.works.length === 0 || (remaining.waiting.length === 0 && !isLost)) return [];
  const found = last?.plan.diagnostics ?? [...new Set(plans.flatMap(({ diagnostics }) => diagnostics))];
  const blocks = [waitingLines(remaining, page), ...mergeFindings(found).map((one) => findingLines(one, page))];
  return blocks.filter((lines) => lines.length > 0);
}

/** The run's result: either manual steps remain, or another command has to come first. */
function endOf(code: ExitCode, { last }: RunOutcome, blockers: Parameters<typeof blockerBlocks>[0]): RunEnd {
  const word = endWords[code] ?? 'failed';
  if (code !== exitCode.handsNeeded) return word;
  // A Mac waiting at FileVault was not observed, so it has no blocker.
  const failures = last === undefined ? [] : Object.values(last.observation.failures).flat();
  return failures.some(isHandsWork) ? word : (neededFor(blockers) ?? word);
}

/** All problems of the run, including refused leases, which the run itself only counts. */
function allProblems(outcome: RunOutcome): readonly Diagnostic[] {
  const problems = problemsOf(outcome);
  const refused = refusalsOf(outcome).map(leaseHeld);
  return [
    ...refused.filter(({ subject }) => !problems.some((one) => isSameSubject(one.subject, subject))),
    ...problems,
  ];
}

function countsOf(outcome: RunOutcome): RunCounts {
  const { last, targets, report } = outcome;
  if (last === undefined) return countUnchecked(report.works, targets);
  const { plan, fleet, observation } = last;
  return countRun({ planned: plannedChanges(outcome), last: plan, desired: fleet, observation, targets });
}

type ReportSurroundings = OutcomeSurroundings & {
  readonly counts: RunCounts;
  /** The run's own problems. */
  readonly diagnostics: readonly Diagnostic[];
};

/** The result of a run as JSON (`schemas/report.schema.json`). */
function reportJson(outcome: RunOutcome, about: ReportSurroundings, reader: Reader): ReportDocument {
  const { report, last } = outcome;
  const left = last?.plan ?? remainingWork(report);
  const runId = report.works.find(({ run }) => run !== undefined)?.run?.runId;
  const { changed, failed, unchanged } = about.counts;
  return {
    ...documentHead(reader, { cluster: about.cluster }),
    verb: about.verb,
    ...given({ playbook: about.playbook, run: runId }),
    exit: exitOf(outcome),
    exits: [...new Set(exitsOf(outcome))],
    counts: { changed, failed, unchanged, ...unreachedReason(about.counts, last !== undefined) },
    ...unreachedField(last?.plan.unreached ?? report.works.findLast(({ plan }) => plan !== undefined)?.plan?.unreached),
    steps: stepsOf(report).map((step) => stepJson(step, reader)),
    ...(left === undefined ? {} : { remaining: pendingJson(left, reader) }),
    ...given({ hashed: about.hashed, serving: about.serving }),
    refusals: refusalsOf(outcome).map(({ node, holder }) => ({ node, ...holder })),
    lock: about.lock,
    diagnostics: diagnosticsJson(reader, [
      ...(about.found ?? []),
      ...about.diagnostics,
      ...(last?.plan.diagnostics ?? []),
    ]),
  };
}

function unreachedReason(
  { changed, failed, unchanged, unseen }: RunCounts,
  isChecked: boolean,
): { readonly reason?: string } {
  if (![changed, failed, unchanged].includes(null)) return {};
  return { reason: isChecked ? `${unseen.join(', ')} not reached` : 'the nodes were not checked again' };
}

const stepJson = ({ step, outcome, ms, rescues, diagnostics }: StepReport, reader: Reader) => ({
  id: step.id,
  node: step.node,
  resource: step.resource,
  act: step.act.kind,
  effect: step.effect.kind,
  outcome,
  ms,
  ...given({ rescues }),
  diagnostics: diagnosticsJson(reader, diagnostics),
});

type Remaining = Pick<Plan, 'waiting' | 'blockers'>;

const firstOfEach = <T>(all: readonly T[], keyOf: (one: T) => string): readonly T[] =>
  alike(all, keyOf).map(([first]) => first);

/** The reasons why work of these kinds was not done: waiting changes and their blockers, without duplicates. */
function remainingOf(
  works: PlaybookReport['works'],
  isIncluded: (kind: ReturnType<typeof kindOfTask>) => boolean,
  first: readonly Remaining[],
): Remaining | undefined {
  const remaining = works.flatMap((work) =>
    isIncluded(kindOfTask(work)) && work.plan !== undefined && work.plan.waiting.length > 0 ? [work.plan] : [],
  );
  if (remaining.length === 0) return undefined;
  const all = [...first, ...remaining];
  return {
    waiting: firstOfEach(
      all.flatMap(({ waiting }) => waiting),
      ({ node, resource }) => `${node} ${resource}`,
    ),
    blockers: firstOfEach(
      all.flatMap(({ blockers }) => blockers),
      ({ node, code, resource, property }) => [node, code, resource, property?.address ?? ''].join(' '),
    ),
  };
}

/** The placement whose rank a step stops or starts. */
const rankOf = ({ act }: Step): string | undefined =>
  act.kind === 'script' && (act.name === 'stop-rank' || act.name === 'kick-rank') ? act.args.placement : undefined;

/** Planned stops of placements whose ranks were neither stopped nor started. */
function missedStops(works: PlaybookReport['works']): readonly Change[] {
  const touched = stepsOf({ works }).filter((one) => rankOf(one.step) !== undefined && isDone(one));
  const isMissed = (step: Step): boolean =>
    rankOf(step) !== undefined && !touched.some((one) => rankOf(one.step) === rankOf(step));
  return works.flatMap((work) => {
    const { plan, run } = work;
    if (kindOfTask(work) !== 'stop' || plan === undefined || run === undefined) return [];
    const missed = run.steps.flatMap(({ step }) => (isMissed(step) ? step.changes : []));
    return plan.changes.filter(({ id }) => missed.includes(id));
  });
}

/** Adds missed stops to a restart's final check, which finds no problem in a placement that was never stopped. */
export function withMissedStops(last: Plan, { works }: Pick<PlaybookReport, 'works'>): Plan {
  const changes = firstOfEach([...last.changes, ...missedStops(works)], ({ id }) => id);
  return { ...last, changes, ...remainingOf(works, (kind) => kind === 'stop' || kind === 'reboot', [last]) };
}

/** Why a run without a final check, such as a shutdown, did not do its work; `undefined` if the run did it. */
export function remainingWork({ works }: Pick<PlaybookReport, 'works'>): Pending | undefined {
  const remaining = remainingOf(works, () => true, []);
  return remaining === undefined ? undefined : { changes: [], ...remaining };
}

/** Nodes that a run tried to shut down. A node can be off even after a failed or interrupted step. */
export function nodesSentOff(report: Pick<PlaybookReport, 'works'>): readonly NodeName[] {
  const wereBegun = stepsOf(report).filter(
    ({ step, outcome, ms }) =>
      step.act.kind === 'reboot' &&
      step.act.to === 'off' &&
      outcome !== 'skipped' &&
      outcome !== 'blocked' &&
      (outcome !== 'interrupted' || ms > 0),
  );
  return [...new Set(wereBegun.map(({ step }) => step.node))];
}

export interface RunOutcome {
  readonly targets: readonly NodeName[];
  readonly report: PlaybookReport;
  /** The final check; absent if the nodes could not be observed or there was nothing to check. */
  readonly last?: JudgedPlan;
  /** The exit code for the signal that interrupted the run. */
  readonly interruptedBy?: ExitCode;
}

export const nothingRun = (nodes: readonly NodeName[]): PlaybookReport => ({
  works: [],
  nodes,
  isStopped: false,
  isDeclined: false,
  isInterrupted: false,
  refusal: [],
});

export interface OutcomeParts extends Pick<ReportDocument, 'serving' | 'hashed'> {
  readonly lock?: Partial<ReportDocument['lock']>;
  /** The result of the final check if nothing is left to do: `chat is stopped`. */
  readonly checked?: string;
  /** Problems that were shown before the run and that it repairs. */
  readonly found?: readonly Diagnostic[];
  /** Closing sentences for people, such as how to turn Macs on again. */
  readonly closing?: readonly Prose[];
}

type OutcomeSurroundings = OutcomeParts & Pick<ReportDocument, 'cluster' | 'verb' | 'playbook' | 'lock'>;

const plannedChanges = ({ report }: RunOutcome): readonly Change[] =>
  report.works.flatMap(({ plan, run }) => (plan === undefined || run === undefined ? [] : plan.changes));

const refusalsOf = ({ report }: RunOutcome): readonly LeaseRefusal[] =>
  report.works.flatMap(({ refusals }) => refusals);

/** The run's problems in order, without duplicates. The final check's problems are in its plan. */
const problemsOf = ({ report }: RunOutcome): readonly Diagnostic[] => [
  ...report.refusal,
  ...new Set(report.works.flatMap(({ diagnostics, run }) => [...diagnostics, ...(run?.diagnostics ?? [])])),
];

/** All applicable exit codes; 0 only if every target was observed in its desired state after the last write. */
export function exitsOf(outcome: RunOutcome): readonly ExitCode[] {
  const { report, interruptedBy } = outcome;
  const isRefused = refusalsOf(outcome).length > 0;
  const hasRun = stepsOf(report).some(({ ms }) => ms > 0);
  const verdict = codeForNodes(verdictsOf(outcome));
  const isCut = report.isDeclined || report.isStopped || report.isInterrupted;
  return [
    ...(interruptedBy === undefined ? [] : [interruptedBy]),
    ...(isRefused ? [exitCode.leaseHeld] : []),
    ...(report.isDeclined && !hasRun ? [exitCode.nothingChanged] : []),
    // An interrupted run is not a success, even if all of its finished steps succeeded.
    verdict === exitCode.done && isCut && outcome.last === undefined ? exitCode.partial : verdict,
  ];
}

export const exitOf = (outcome: RunOutcome): ExitCode => firstOf(exitsOf(outcome));

/** The verdict on each target, from the final check or else from the work on the target. */
function verdictsOf(outcome: RunOutcome): readonly NodeVerdict[] {
  const { targets, last } = outcome;
  const seen = last === undefined ? undefined : planVerdicts({ ...last, targets });
  return targets.map((name, index) => {
    if (seen === undefined) return verdictByWorks(name, outcome);
    return hasRestarted(name, outcome) ? (seen[index] ?? 'unjudged') : 'wrong';
  });
}

/**
 * True if every planned restart happened; without it, a Mac is wrong even if its state is right. A Mac that stopped at
 * FileVault did restart, and the final check shows whether it is still waiting there.
 */
const hasRestarted = (name: NodeName, { report }: RunOutcome): boolean =>
  stepsOf(report)
    .filter(({ step }) => step.node === name && step.act.kind === 'reboot')
    .every((one) => isDone(one) || one.outcome === 'blocked');

function verdictByWorks(name: NodeName, { report }: RunOutcome): NodeVerdict {
  const works = report.works.filter(({ nodes }) => nodes.includes(name));
  const plans = works.flatMap(({ plan }) => plan ?? []);
  const waiting = plans.flatMap((plan) => plan.waiting).filter(({ node }) => node === name);
  const failed = works.filter((work) => work.failed.includes(name) && !isWaiting(name, work));
  if (failed.some(({ isByHand }) => isByHand !== true)) return 'wrong';
  if (works.length === 0 || plans.some(({ observed }) => !Object.hasOwn(observed, name))) return 'unjudged';
  if (waiting.some(({ isUnknown }) => isUnknown)) return 'unjudged';
  return failed.length + waiting.length > 0 || plans.some((plan) => isBlocked(name, plan)) ? 'hands' : 'fine';
}

/**
 * True if work on a node did not start because it waits for something, which needs a manual step and is not a failure.
 * A plan for the whole file never fails because of waiting changes. Only this work's own plan counts.
 */
function isWaiting(name: NodeName, work: PlaybookWork): boolean {
  const { plan, run } = work;
  if (kindOfTask(work) === 'converge' || kindOfTask(work) === 'verify') return false;
  const isBegun = run?.steps.some(({ step }) => step.node === name) === true;
  return !isBegun && plan?.waiting.some(({ node, isUnknown }) => node === name && !isUnknown) === true;
}

const isBlocked = (name: NodeName, { blockers }: Plan): boolean =>
  blockers.some(({ node, peers }) => node === name || peers.includes(name));

export interface JudgedPlan {
  readonly goal: Goal['kind'];
  readonly plan: Plan;
  readonly observation: FleetObservation;
  readonly fleet: DesiredFleet;
  readonly targets: readonly NodeName[];
}

/** The verdict on each target, from a plan of its last observation. Unknown means neither right nor wrong. */
const planVerdicts = (judged: JudgedPlan): readonly NodeVerdict[] =>
  judged.targets.map((name) => verdictFor(name, judged));

function verdictFor(name: NodeName, judged: JudgedPlan): NodeVerdict {
  const { plan, observation, fleet } = judged;
  if (!Object.hasOwn(plan.observed, name)) {
    const failures = observation.failures[name] ?? [];
    return failures.length === 0 ? 'unjudged' : verdictOf(failures);
  }
  const isAbout = ({ node, about }: Pick<Waiting, 'node' | 'about'>): boolean =>
    node === name || membersOf(about, fleet).includes(name);
  const waiting = plan.waiting.filter(isAbout);
  const isOneUnseen = isOtherUnseen(name, judged);
  const isToList = ({ about }: Waiting): boolean => waitsForList(about, fleet);
  const isOwn = (one: Waiting): boolean => one.isUnknown && !(isOneUnseen && isShared(one.about)) && !isToList(one);
  if (waiting.some(isOwn)) return 'unjudged';
  if (plan.changes.some(isAbout) || waiting.some(isToList)) return 'wrong';
  return isBlocked(name, plan) || waiting.some(({ isUnknown }) => !isUnknown) ? 'hands' : 'fine';
}

/** True for a placement whose runtime's files apply makes first: it is known not to serve as desired. */
function waitsForList({ kind, placement }: AddressParts, { placements, runtimes }: DesiredFleet): boolean {
  const used = placements.find(({ name }) => kind === 'placement' && name === placement)?.runtime;
  return runtimes.some(({ name, unread }) => name === used && isMadeFirst(unread));
}

/**
 * True if a property belongs to several nodes, because a cable has two ends and a placement has several ranks. If its
 * value is unknown because another target was not observed, only that target is `unjudged`. This also applies to a
 * stopping placement, because its ranks stop one by one. A starting placement needs all its ranks.
 */
const isShared = ({ kind }: AddressParts): boolean =>
  kind === 'thunderbolt-link' || kind === 'link-address' || kind === 'placement';

/** True if another target could not be checked; for a stop, also if a target did not report its running ranks. */
function isOtherUnseen(name: NodeName, { goal, plan, observation, targets }: JudgedPlan): boolean {
  if (goal !== 'converge' && goal !== 'stop') return false;
  const unseen = targets.filter((target) => !Object.hasOwn(plan.observed, target));
  const mute = goal === 'stop' ? awayNodes(targets, observation) : [];
  return !mute.includes(name) && [...unseen, ...mute].length > 0;
}

/** A placement that does not serve is wrong on all of its nodes; a single rank only on its own node. */
function membersOf({ kind, placement, part }: AddressParts, { placements }: DesiredFleet): readonly NodeName[] {
  return kind === 'placement' && part !== 'rank'
    ? (placements.find(({ name }) => name === placement)?.nodes ?? [])
    : [];
}

/** The exit code of a run with this final check; 0 only if every target is in its desired state. */
export const codeForPlan = (judged: JudgedPlan): ExitCode => codeForNodes(planVerdicts(judged));

/** The exit code for pending changes: 2 if a run can change some, 3 if only blockers remain; unknown comes first. */
export function codeForPending(judged: JudgedPlan, additions: readonly string[]): ExitCode {
  const verdicts = planVerdicts(judged);
  if (verdicts.includes('unjudged')) return codeForUnjudged(verdicts);
  if (verdicts.includes('wrong') || additions.length > 0) return exitCode.changesPending;
  return verdicts.includes('hands') ? exitCode.handsNeeded : exitCode.done;
}

/** The exit code that shows only whether all targets could be checked. */
export const codeForChecked = (judged: JudgedPlan): ExitCode => codeForUnjudged(planVerdicts(judged));

function codeForUnjudged(verdicts: readonly NodeVerdict[]): ExitCode {
  if (!verdicts.includes('unjudged')) return exitCode.done;
  return verdicts.every((verdict) => verdict === 'unjudged') ? exitCode.failed : exitCode.partial;
}
