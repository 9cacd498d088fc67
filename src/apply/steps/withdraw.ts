import { withdrawBody } from '../../node/withdraw.ts';
import type { StepResult } from '../execute.ts';
import type { StepContext, StepOf } from './context.ts';
import { sendOnce } from './root-script.ts';

/**
 * Runs the last script of all on a node, once: it takes the lease away with everything else, so that the lease is not
 * renewed from here on, and nobody gives it back. Only a script that is known to have changed nothing brings that back.
 */
export async function runWithdraw(step: StepOf<'script'>, context: StepContext): Promise<StepResult> {
  const { node } = step;
  await context.onWithdraw?.(node);
  context.suspend(node);
  const result = await sendOnce(step, context, withdrawBody);
  if (result.outcome === 'failed') await context.resume(node);
  return result;
}
