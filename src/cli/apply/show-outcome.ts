import { leaseHeld } from '../../apply/lease/lease-ask.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { isHandsWork } from '../../diagnostics/manual-work.ts';
import { proseText } from '../../diagnostics/prose-text.ts';
import { isSameSubject } from '../../model/subject.ts';
import { findingLines } from '../../report/finding-lines.ts';
import { fitLines } from '../../report/layout.ts';
import { mergeFindings } from '../../report/merge-findings.ts';
import type { Page } from '../../report/page.ts';
import { blockerBlocks, neededFor } from '../../report/plan/blocker-lines.ts';
import { waitingLines } from '../../report/plan/waiting-lines.ts';
import { type RunCounts, type RunEnd, summaryText, uncheckedText } from '../../report/run/apply-text.ts';
import { countRun, countUnchecked } from '../../report/run/run-counts.ts';
import { logFindings, showDiagnostics, showJson } from '../terminal/diagnostics-output.ts';
import { gatherAlike } from '../terminal/gather-alike.ts';
import { pageFor } from '../terminal/paint.ts';
import { type ExitCode, exitCode } from '../verb/exit-codes.ts';
import { mendingText } from '../verb/same-options.ts';
import type { Run } from '../verb/verb.ts';
import { keptWork } from './kept-stops.ts';
import { reportJson } from './report-json.ts';
import {
  exitOf,
  type OutcomeSurroundings,
  plannedChanges,
  problemsOf,
  type RunOutcome,
  refusalsOf,
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
  if (last === undefined) {
    return countUnchecked(report.works, targets);
  }
  const { plan, fleet, observation } = last;
  return countRun({ planned: plannedChanges(outcome), last: plan, desired: fleet, observation, targets });
}
