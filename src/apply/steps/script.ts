import { scriptBody } from '../../script/node-scripts/registry.ts';
import type { StepRunner } from './context.ts';
import { sendRootScript } from './root-script.ts';

/** Runs a named script as root. */
export const runScript: StepRunner<'script'> = (step, context) =>
  sendRootScript(step, context, () => scriptBody(step.act));
