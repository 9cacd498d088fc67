import { known } from '../../model/known.ts';
import { readKept } from '../../node/probes/kept.ts';
import { keptRecords } from '../../node/probes/ours.ts';
import type { Fact } from '../fact.ts';

/** What the node was like before the first run changed anything, as that run has written it down. */
export const baseline: Fact<'baseline'> = {
  name: 'baseline',
  from: [keptRecords],
  parse: ([answer]) => {
    const kept = readKept(answer);
    return kept.kind === 'unknown' ? kept : known(kept.value.baseline);
  },
};
