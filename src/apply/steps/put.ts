import { putBody } from '../../node/put-file.ts';
import type { StepRunner } from './context.ts';
import { sendRootScript } from './root-script.ts';

/** Writes a file of ours as root. */
export const runPut: StepRunner<'put'> = (step, context) => {
  const { path, mode, content } = step.act;
  return sendRootScript(step, context, (rootPrefix, login) => putBody({ path, mode, content, rootPrefix, login }));
};
