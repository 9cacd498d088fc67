import { leaseHeld } from '../apply/lease-ask.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { type RunCounts, type RunEnd, summaryText } from '../report/apply-text.ts';
import { blockerBlocks } from '../report/blocker-lines.ts';
import { fitLines } from '../report/layout.ts';
import { countRun } from '../report/run-counts.ts';
import { showDiagnostics, showJson } from './diagnostics-output.ts';
import { type ExitCode, exitCode } from './exit-codes.ts';
import { gatherAlike } from './gather-alike.ts';
import { keptWork } from './kept-stops.ts';
import { paintFor } from './paint.ts';
import { reportJson } from './report-json.ts';
import {
  exitOf,
  type OutcomeSurroundings,
  plannedChanges,
  problemsOf,
  type RunOutcome,
  refusalsOf,
} from './run-outcome.ts';
import { mendingText } from './same-options.ts';
import { simulatedHints } from './simulated-hints.ts';
import type { Run } from './verb.ts';

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
  const said = toldProblems(outcome);
  const diagnostics = about.isSimulated ? simulatedHints(said) : said;
  if (run.options.json) {
    showJson(run.console, reportJson(outcome, { ...about, counts, diagnostics }));
    return code;
  }
  const { columns, hasUnicode: unicode, hasColor } = run.console;
  const page = { columns, unicode, paint: paintFor(hasColor) };
  showDiagnostics(run.console, gatherAlike(diagnostics));
  const { last, report } = outcome;
  const hasRun = report.works.length > 0;
  // Where nothing was run, the plan above has said it all.
  if (!hasRun && code !== exitCode.nothingChanged) return code;
  const list = hasRun ? blockerBlocks((last?.plan ?? keptWork(report))?.blockers ?? [], page) : [];
  const text = last === undefined ? unseenText(code) : summaryText(endWords[code] ?? 'failed', counts);
  const closing = (about.closing ?? []).flatMap((line) => fitLines(line, columns));
  const blocks = [...list, fitLines(text, columns), ...(closing.length === 0 ? [] : [closing])];
  for (const lines of blocks) run.console.out(`\n${lines.join('\n')}\n`);
  if (about.isSimulated && list.length > 0) run.console.out(mendingText);
  return code;
}

/** Where nobody has looked again, there is nothing to count. */
const unseenText = (code: ExitCode): string => {
  const word = endWords[code] ?? 'failed';
  return word === 'interrupted' ? 'interrupted: the same command goes on from here' : word;
};

/** A refused lease is a problem that the run itself only counts. */
function toldProblems(outcome: RunOutcome): readonly Diagnostic[] {
  const problems = problemsOf(outcome);
  const refused = refusalsOf(outcome).map(({ node, holder }) => leaseHeld(node, holder));
  return [...refused.filter(({ subject }) => !problems.some((one) => one.subject === subject)), ...problems];
}

function countsOf(outcome: RunOutcome): RunCounts {
  const { last, targets } = outcome;
  const planned = plannedChanges(outcome);
  if (last === undefined) {
    return { changed: 0, failed: planned.length, unchanged: 0, left: 0, waiting: 0, blockers: 0, unseen: [...targets] };
  }
  const { plan, fleet, observation } = last;
  return countRun({ planned, last: plan, desired: fleet, observation, targets });
}
