import { openRun, type RunOptions, type RunReport } from '../../src/apply/open-run.ts';
import type { Plan } from '../../src/engine/plan/plan.ts';

/**
 * Runs one plan from its first lease to its last: exactly its steps, in their order. Whether the nodes are as they
 * should be afterwards is for a fresh observation to say.
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
