/** The bodies of root scripts as the product renders them for a step. Whatever moves in `src` is followed here alone. */

import { launchBody } from '../../../src/engine/scripts/job.ts';
import { scriptBody } from '../../../src/engine/scripts/registry.ts';
import type { Step } from '../../../src/model/step.ts';
import { putBody } from '../../../src/node/put-file.ts';

/** Where and as whom a step runs. */
export interface StepPlace {
  readonly rootPrefix: string;
  readonly login: string;
}

/** The body that has to be in the first root script of a step; undefined where only its run knows the arguments. */
export function stepBody({ act }: Step, where: StepPlace): string | undefined {
  switch (act.kind) {
    case 'script':
    case 'transaction':
      return scriptBody(act);
    case 'job':
      return launchBody({ key: act.key, call: act });
    case 'put':
      return putBody({ ...act, ...where });
    default:
      return undefined;
  }
}
