import { known } from '../../model/known.ts';
import { readKept } from '../../node/probes/kept.ts';
import { keptRecords } from '../../node/probes/ours.ts';
import type { Fact } from '../fact.ts';

/** The lease that a run holds on the node, or held when it died; without fields when it died while taking it. */
export const leases: Fact<'leases'> = {
  name: 'leases',
  from: [keptRecords],
  parse: ([answer]) => {
    const kept = readKept(answer);
    return kept.kind === 'unknown' ? kept : known(kept.value.leases);
  },
};
