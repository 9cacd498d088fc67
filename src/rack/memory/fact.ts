import type { WiredLimit } from '../../model/facts/mac.ts';
import { type Known, known } from '../../model/known.ts';
import { wholeNumber } from '../../node/answers/grammar.ts';
import { sysctlValues } from '../../node/answers/printed-values.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { sysctl } from '../../node/probes/system.ts';
import { defineFact } from '../fact.ts';

/** How much memory the GPU may wire, from `iogpu.wired_limit_mb: 0`. */
export const wiredLimitFact = defineFact({
  name: 'wired-limit',
  from: [sysctl],
  parse: ([answer]): Known<WiredLimit> => {
    const values = sysctlValues(answer, ['iogpu.wired_limit_mb']);
    if (values.kind === 'unknown') return values;
    const megabytes = wholeNumber(values.value[0]);
    return megabytes === undefined ? garbled(answer, 'printed no number of megabytes') : known({ megabytes });
  },
  source: 'sysctl iogpu.wired_limit_mb',
});
