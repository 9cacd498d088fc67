import { leaseHeld } from '../../apply/lease/take-lease.ts';
import type { PlaybookReport } from '../../apply/playbook-report.ts';
import type { StepReport } from '../../apply/run-report.ts';
import { type Diagnostic, isHandsWork } from '../../diagnostics/diagnostic.ts';
import { proseText, type Reader } from '../../diagnostics/prose-text.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { ReportDocument } from '../../model/documents.generated.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import type { Change, Step } from '../../model/step.ts';
import { isSameSubject } from '../../model/subject.ts';
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
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { diagnosticsJson, logFindings, pageFor, showDiagnostics, showJson } from '../terminal/console.ts';
import { mendingText, type Run } from '../verb.ts';
import {
  exitOf,
  exitsOf,
  type OutcomeSurroundings,
  plannedChanges,
  problemsOf,
  type RunOutcome,
  refusalsOf,
  stepsOf,
} from './run-outcome.ts';

const endWords: Readonly<Partial<Record<ExitCode, RunEnd>>> = {
  [exitCode.done]: 'done',
  [exitCode.handsNeeded]: 'hands needed',
  [exitCode.partial]: 'partial',
  [exitCode.nothingChanged]: 'nothing changed',
  [exitCode.leaseHeld]: 'nothing changed',
  [exitCode.interrupted]: 'interrupted',
  [exitCode.terminated]: 'interrupted',
};

/** Shows how a run ended, as text or as one document, and gives its exit code. */
export function showOutcome(run: Run, outcome: RunOutcome, about: OutcomeSurroundings): ExitCode {
  const code = exitOf(outcome);
  const counts = countsOf(outcome);
  const diagnostics = toldProblems(outcome);
  logFindings(run, diagnostics);
  if (outcome.last !== undefined) run.log?.write({ kind: 'plan', plan: outcome.last.plan });
  if (run.options.json) {
    showJson(run.console, reportJson(outcome, { ...about, counts, diagnostics }));
    return code;
  }
  const page = pageFor(run.console);
  showDiagnostics(run.console, gatherAlike(diagnostics));
  const { last, report } = outcome;
  const hasRun = report.works.length > 0;
  // Where nothing was run, the plan above has said it all.
  if (!hasRun && code !== exitCode.nothingChanged) return code;
  const blockers = (last?.plan ?? keptWork(report))?.blockers ?? [];
  const list = hasRun ? blockerBlocks(blockers, page) : [];
  const end = endOf(code, outcome, blockers);
  const text = last === undefined ? uncheckedText(end, counts) : summaryText(end, counts, about.checked);
  const closing = (about.closing ?? []).flatMap((line) => fitLines(proseText(line, page), page.columns));
  const blocks = [
    ...unshownBlocks(outcome, page),
    ...list,
    fitLines(text, page.columns),
    ...(closing.length === 0 ? [] : [closing]),
  ];
  for (const lines of blocks) run.console.out(`\n${lines.join('\n')}\n`);
  if (about.isSimulated && hasRun && blockers.some(({ isHands }) => isHands))
    run.console.out(proseText(mendingText, page));
  return code;
}

/**
 * What waits, and what was found, where no plan was shown because there was nothing to run: then nothing else says why a
 * verb did not do its work.
 */
function unshownBlocks({ report, last }: RunOutcome, page: Page): readonly (readonly string[])[] {
  const isShown = report.isDeclined || report.works.some(({ run }) => run !== undefined);
  const plans = report.works.flatMap(({ plan }) => plan ?? []);
  const kept = last?.plan ?? keptWork(report) ?? { waiting: [], blockers: [] };
  const isLost = [...plans, ...(last === undefined ? [] : [last.plan])].some(
    ({ unreached }) => unreached !== undefined,
  );
  if (isShown || report.works.length === 0 || (kept.waiting.length === 0 && !isLost)) return [];
  const found = last?.plan.diagnostics ?? [...new Set(plans.flatMap(({ diagnostics }) => diagnostics))];
  const blocks = [waitingLines(kept, page), ...mergeFindings(found).map((one) => findingLines(one, page))];
  return blocks.filter((lines) => lines.length > 0);
}

/** What is left may be for hands, or for a verb that has to come first. */
function endOf(code: ExitCode, { last }: RunOutcome, blockers: Parameters<typeof blockerBlocks>[0]): RunEnd {
  const word = endWords[code] ?? 'failed';
  if (code !== exitCode.handsNeeded) return word;
  // A Mac that waits at FileVault has no blocker: nobody could look at it.
  const failures = last === undefined ? [] : Object.values(last.observation.failures).flat();
  return failures.some(isHandsWork) ? word : (neededFor(blockers) ?? word);
}

/** A refused lease is a problem that the run itself only counts. */
function toldProblems(outcome: RunOutcome): readonly Diagnostic[] {
  const problems = problemsOf(outcome);
  const refused = refusalsOf(outcome).map(({ node, holder }) => leaseHeld(node, holder));
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

/** What the document says besides the outcome. */
interface ReportSurroundings extends OutcomeSurroundings {
  readonly counts: RunCounts;
  /** Problems of the run. */
  readonly diagnostics: readonly Diagnostic[];
}

/** How a run ended as programs read it (`schemas/report.schema.json`). */
function reportJson(outcome: RunOutcome, about: ReportSurroundings): ReportDocument {
  const reader = { isSimulated: about.isSimulated };
  const { report, last } = outcome;
  const left = last?.plan ?? keptWork(report);
  const runId = report.works.find(({ run }) => run !== undefined)?.run?.runId;
  const { changed, failed, unchanged } = about.counts;
  return {
    formatVersion: 1,
    cluster: about.cluster,
    ...(about.isSimulated ? { simulated: true } : {}),
    verb: about.verb,
    ...given({ playbook: about.playbook, run: runId }),
    exit: exitOf(outcome),
    exits: [...new Set(exitsOf(outcome))],
    counts: { changed, failed, unchanged, ...unreachedReason(about.counts, last !== undefined) },
    ...unreachedField(last?.plan.unreached ?? report.works.findLast(({ plan }) => plan !== undefined)?.plan?.unreached),
    steps: stepsOf(outcome).map((step) => stepJson(step, reader)),
    ...(left === undefined ? {} : { remaining: pendingJson(left, reader) }),
    refusals: refusalsOf(outcome).map(({ node, holder }) => ({ node, ...holder })),
    lock: about.lock,
    diagnostics: diagnosticsJson(reader, [...about.diagnostics, ...(last?.plan.diagnostics ?? [])]),
  };
}

/** Why a count is null, where one is. */
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

type Kept = Pick<Plan, 'waiting' | 'blockers'>;

const firstOfEach = <T>(all: readonly T[], keyOf: (one: T) => string): readonly T[] => {
  const byKey = new Map<string, T>();
  for (const one of all) if (!byKey.has(keyOf(one))) byKey.set(keyOf(one), one);
  return [...byKey.values()];
};

/** What kept the works of these kinds from being done: what waits, and the work list of that, each once. */
function keptBy(
  works: PlaybookReport['works'],
  isMeant: (kind: PlaybookReport['works'][number]['task']['kind']) => boolean,
  first: readonly Kept[],
): Kept | undefined {
  const kept = works.flatMap(({ task, plan }) =>
    isMeant(task.kind) && plan !== undefined && plan.waiting.length > 0 ? [plan] : [],
  );
  if (kept.length === 0) return undefined;
  const all = [...first, ...kept];
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

/** Stops of placements of which no rank was stopped, and none was started either. */
function missedStops(works: PlaybookReport['works']): readonly Change[] {
  const ranks = works.flatMap(({ run }) => run?.steps ?? []).filter(({ step }) => rankOf(step) !== undefined);
  const touched = ranks.filter(({ outcome }) => outcome === 'changed' || outcome === 'unchanged');
  const isMissed = (step: Step): boolean =>
    rankOf(step) !== undefined && !touched.some((one) => rankOf(one.step) === rankOf(step));
  return works.flatMap(({ task, plan, run }) => {
    if (task.kind !== 'stop' || plan === undefined || run === undefined) return [];
    const missed = run.steps.flatMap(({ step }) => (isMissed(step) ? step.changes : []));
    return plan.changes.filter(({ id }) => missed.includes(id));
  });
}

/**
 * The plan of the last check after a restart or a reboot, with the stops that were not done: a placement that still
 * serves was not restarted then, and that check alone cannot show it.
 */
export function withKeptStops(last: Plan, { works }: Pick<PlaybookReport, 'works'>): Plan {
  const changes = firstOfEach([...last.changes, ...missedStops(works)], ({ id }) => id);
  return { ...last, changes, ...keptBy(works, (kind) => kind === 'stop' || kind === 'reboot', [last]) };
}

/** What kept a run from its work, behind which nobody can look: Macs that were to be off. `undefined` when nothing did. */
export function keptWork({ works }: Pick<PlaybookReport, 'works'>): Pending | undefined {
  const kept = keptBy(works, () => true, []);
  return kept === undefined ? undefined : { changes: [], ...kept };
}

/** Nodes that a run told to go off. One whose step failed or was cut off may be off all the same. */
export function toldToGoOff({ works }: Pick<PlaybookReport, 'works'>): readonly NodeName[] {
  const steps = works.flatMap(({ run }) => run?.steps ?? []);
  const wereBegun = steps.filter(
    ({ step, outcome, ms }) =>
      step.act.kind === 'reboot' &&
      step.act.to === 'off' &&
      outcome !== 'skipped' &&
      outcome !== 'blocked' &&
      (outcome !== 'interrupted' || ms > 0),
  );
  return [...new Set(wereBegun.map(({ step }) => step.node))];
}
