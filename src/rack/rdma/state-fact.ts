import { type Known, known } from '../../model/known.ts';
import { garbled, readText } from '../../node/answers/read-answer.ts';
import { rdmaCtl } from '../../node/probes/network.ts';
import { defineFact } from '../fact.ts';

/** Whether RDMA over Thunderbolt is switched on: the whole output is the one word. @see Apple TN3205 */
export const rdmaStateFact = defineFact({
  name: 'rdma-state',
  from: [rdmaCtl],
  parse: ([answer]): Known<'enabled' | 'disabled'> => {
    const text = readText(answer);
    if (text.kind === 'unknown') return text;
    if (text.value === 'enabled\n') return known('enabled');
    if (text.value === 'disabled\n') return known('disabled');
    return garbled(answer, 'said neither enabled nor disabled');
  },
  text: (state) => state,
});
