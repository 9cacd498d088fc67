import { openRun, type RunOptions, type RunReport } from '../../src/apply/open-run.ts';
import type { Plan } from '../../src/engine/plan/plan.ts';

/**
 * Runs one plan from its first lease to its last: exactly its steps, in order. A new observation has to show whether
 * the nodes match the file afterwards.
 * @throws FleetError `journal/cannot-write`, before anything is sent
 */
export async function runPlan(plan: Plan, options: RunOptions): Promise<RunReport> {
  const run = openRun(options);
  try {
    return await run.run(plan);
  } finally {
    await run.close();
  }
}
