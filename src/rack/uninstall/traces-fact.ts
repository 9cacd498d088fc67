import { known } from '../../model/known.ts';
import { readKept } from '../../node/probes/kept.ts';
import { keptRecords } from '../../node/probes/ours.ts';
import type { Fact } from '../fact.ts';

/** What lies on the node because of meshwright, and what it is reached by. */
export const traces: Fact<'traces'> = {
  name: 'traces',
  from: [keptRecords],
  parse: ([answer]) => {
    const kept = readKept(answer);
    return kept.kind === 'unknown' ? kept : known(kept.value.traces);
  },
};
