import { FleetError } from '../../diagnostics/fleet-error.ts';
import type { Step } from '../../model/step.ts';
import type { StepResult } from '../execute.ts';
import { runAsk } from './ask.ts';
import { failed, type StepContext, type StepOf } from './context.ts';
import { runDialogue } from './dialogue.ts';
import { withFailingRank } from './failing-rank.ts';
import { runGate } from './gate.ts';
import { runJob } from './job.ts';
import { runHands } from './manual.ts';
import { runProve } from './prove.ts';
import { runPut } from './put.ts';
import { runReboot } from './reboot.ts';
import { runScript } from './script.ts';
import { runSend } from './send.ts';
import { runTransaction } from './transaction.ts';

/** Whether the step is of this kind. */
const isOf = <K extends Step['act']['kind']>(step: Step, kind: K): step is StepOf<K> => step.act.kind === kind;

function runByKind(step: Step, context: StepContext): Promise<StepResult> {
  if (isOf(step, 'script')) return runScript(step, context);
  if (isOf(step, 'transaction')) return runTransaction(step, context);
  if (isOf(step, 'put')) return runPut(step, context);
  if (isOf(step, 'send')) return runSend(step, context);
  if (isOf(step, 'job')) return runJob(step, context);
  if (isOf(step, 'gate')) return runGate(step, context);
  if (isOf(step, 'ask')) return runAsk(step, context);
  if (isOf(step, 'dialogue')) return runDialogue(step, context);
  if (isOf(step, 'prove')) return runProve(step, context);
  if (isOf(step, 'reboot')) return runReboot(step, context);
  if (isOf(step, 'hands')) return runHands(step, context);
  throw new Error(`no runner for a step of kind ${step.act.kind}`);
}

/** Runs a step by its kind. What the controller itself lacks makes it fail; anything else that is thrown is a bug. */
export async function runStep(step: Step, context: StepContext): Promise<StepResult> {
  try {
    return await withFailingRank(step, context, await runByKind(step, context));
  } catch (error) {
    if (error instanceof FleetError) return failed(...error.diagnostics);
    throw error;
  }
}
