import { scriptBody } from '../../script/node-scripts/registry.ts';
import type { StepRunner } from './context.ts';
import { sendRootScript } from './root-script.ts';
import { runWithdraw } from './withdraw.ts';

/** Runs a named script as root. */
export const runScript: StepRunner<'script'> = (step, context) =>
  step.act.name === 'withdraw-node'
    ? runWithdraw(step, context)
    : sendRootScript(step, context, () => scriptBody(step.act));
