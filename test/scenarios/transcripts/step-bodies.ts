/** The bodies of root scripts as the product renders them for a step. Only this file follows moves in `src`. */

import { launchBody } from '../../../src/engine/scripts/job.ts';
import { scriptBody } from '../../../src/engine/scripts/registry.ts';
import type { Step } from '../../../src/model/step.ts';
import { putBody } from '../../../src/node/put-file.ts';

/** The node and the user of a step. */
export interface StepPlace {
  readonly rootPrefix: string;
  readonly login: string;
}

/** The expected body of the first root script of a step; undefined if only its run knows the arguments. */
export function stepBody({ act }: Step, where: StepPlace): string | undefined {
  switch (act.kind) {
    case 'script':
    case 'transaction':
      return scriptBody(act);
    case 'job':
      return launchBody(act.key, act);
    case 'put':
      return putBody({ ...act, ...where });
    default:
      return undefined;
  }
}
