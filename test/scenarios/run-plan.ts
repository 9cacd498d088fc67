import { executeSteps } from '../../src/apply/execute.ts';
import {
  beginPlan,
  closeRun,
  type OpenRun,
  openRun,
  type RunOptions,
  type RunReport,
  reportOf,
  stepOptions,
} from '../../src/apply/open-run.ts';
import type { Plan } from '../../src/engine/plan/plan.ts';

/**
 * Runs one plan from its first lease to its last: exactly its steps, in order. A new observation has to show whether
 * the nodes match the file afterwards.
 * @throws FleetError `journal/cannot-write`, before anything is sent
 */
export async function runPlan(plan: Plan, options: RunOptions): Promise<RunReport> {
  const run = openRun(options);
  try {
    return await runIn(run, plan);
  } finally {
    await closeRun(run);
  }
}

/** Runs a plan in an open run. */
export const runIn = async (run: OpenRun, plan: Plan): Promise<RunReport> =>
  (await beginPlan(plan, run, { nodes: [], isStale: () => false })) ??
  reportOf(run, await executeSteps(plan, stepOptions(plan, run)));
