import { known } from '../model/known.ts';
import type { Fact } from './fact.ts';
import { wholeNumber } from './grammar.ts';
import { sysctl } from './probes/system.ts';
import { garbled } from './read-answer.ts';
import { sysctlValues } from './sysctl-values.ts';

/** How much memory the GPU may wire, from `iogpu.wired_limit_mb: 0`. */
export const wiredLimit: Fact<'wired-limit'> = {
  name: 'wired-limit',
  from: [sysctl],
  parse: ([answer]) => {
    const values = sysctlValues(answer, ['iogpu.wired_limit_mb']);
    if (values.kind === 'unknown') return values;
    const megabytes = wholeNumber(values.value[0]);
    return megabytes === undefined ? garbled(answer, 'printed no number of megabytes') : known({ megabytes });
  },
};
