import type { Hardware } from '../../model/facts/mac.ts';
import { type Known, known } from '../../model/known.ts';
import { isName, wholeNumber } from '../../node/answers/grammar.ts';
import { sysctlValues } from '../../node/answers/printed-values.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { sysctl } from '../../node/probes/system.ts';
import { defineFact } from '../fact.ts';

/** What kind of Mac it is, from `hw.model`, `machdep.cpu.brand_string` and `hw.memsize`. */
export const hardwareFact = defineFact({
  name: 'hardware',
  from: [sysctl],
  parse: ([answer]): Known<Hardware> => {
    const values = sysctlValues(answer, ['hw.model', 'machdep.cpu.brand_string', 'hw.memsize']);
    if (values.kind === 'unknown') return values;
    const [model = '', chip = '', memory] = values.value;
    const memoryBytes = wholeNumber(memory);
    if (!/^[A-Z][A-Za-z]{1,30}\d{1,4},\d{1,4}$/.test(model)) return garbled(answer, 'printed no model identifier');
    if (!isName(chip)) return garbled(answer, 'printed no chip name');
    if (memoryBytes === undefined || memoryBytes === 0) return garbled(answer, 'printed no memory size');
    return known({ model, chip, memoryBytes });
  },
  source: 'sysctl hw.model hw.memsize',
});
