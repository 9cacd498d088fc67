import type { StepReport } from '../../apply/run-report.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Reader } from '../../diagnostics/prose-text.ts';
import { pendingJson } from '../../report/plan/pending-json.ts';
import type { RunCounts } from '../../report/run/apply-text.ts';
import { unreachedField } from '../../report/unreached.ts';
import { diagnosticsJson } from '../terminal/diagnostics-output.ts';
import { keptWork } from './kept-stops.ts';
import { exitOf, exitsOf, type OutcomeSurroundings, type RunOutcome, refusalsOf, stepsOf } from './run-outcome.ts';

/** What the document says besides the outcome. */
export interface ReportSurroundings extends OutcomeSurroundings {
  readonly counts: RunCounts;
  /** Problems of the run. */
  readonly diagnostics: readonly Diagnostic[];
}

/** How a run ended as programs read it (`schemas/report.schema.json`). */
export function reportJson(outcome: RunOutcome, about: ReportSurroundings): unknown {
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
    ...(about.playbook === undefined ? {} : { playbook: about.playbook }),
    ...(runId === undefined ? {} : { run: runId }),
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
function unreachedReason({ changed, failed, unchanged, unseen }: RunCounts, isChecked: boolean): object {
  if (![changed, failed, unchanged].includes(null)) return {};
  return { reason: isChecked ? `${unseen.join(', ')} not reached` : 'the nodes were not checked again' };
}

const stepJson = ({ step, outcome, ms, rescues, diagnostics }: StepReport, reader: Reader): unknown => ({
  id: step.id,
  node: step.node,
  resource: step.resource,
  act: step.act.kind,
  effect: step.effect.kind,
  outcome,
  ms,
  ...(rescues === undefined ? {} : { rescues }),
  diagnostics: diagnosticsJson(reader, diagnostics),
});
