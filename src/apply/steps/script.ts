import { scriptBody } from '../../engine/scripts/registry.ts';
import type { StepResult } from '../execute.ts';
import type { StepContext, StepOf, StepRunner } from './context.ts';
import { sendRootScript } from './root-script.ts';
import { stopWords } from './stop-words.ts';
import { runWithdraw } from './withdraw.ts';

/** Runs a named script as root. */
export const runScript: StepRunner<'script'> = (step, context) =>
  step.act.name === 'withdraw-node' ? runWithdraw(step, context) : send(step, context);

async function send(step: StepOf<'script'>, context: StepContext): Promise<StepResult> {
  const { said = [], outcome, diagnostics } = await sendRootScript(step, context, () => scriptBody(step.act));
  return { outcome, diagnostics: [...diagnostics, ...stopWords(step, said)] };
}
