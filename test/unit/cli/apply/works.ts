import type { RunReport } from '../../../../src/apply/open-run.ts';
import type { PlaybookWork } from '../../../../src/apply/playbook-report.ts';
import type { StepReport } from '../../../../src/engine/plan/plan.ts';
import type { Step, StepOutcome } from '../../../../src/model/step.ts';
import { nodes } from '../../../rack/plans.ts';

/** The nodes of the rack. */
export const all = nodes(1, 2, 3, 4);

export function stepReport(step: Step, outcome: StepOutcome, ms = 12): StepReport {
  return { step, outcome, ms, diagnostics: [] };
}

/** A run of these steps that was not interrupted. */
export function runOf(...steps: readonly StepReport[]): RunReport {
  return { runId: 'r', steps, refusals: [], diagnostics: [], isInterrupted: false, isLeaseLost: false };
}

/** A task that was carried out on all nodes. */
export function workOf(work: Partial<PlaybookWork>): PlaybookWork {
  const task = { kind: 'converge' } as const;
  return { play: 0, batch: 0, task, nodes: all, failed: [], refusals: [], diagnostics: [], ...work };
}
