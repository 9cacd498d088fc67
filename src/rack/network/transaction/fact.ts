import { known } from '../../../model/known.ts';
import { readKept } from '../../../node/probes/kept.ts';
import { keptRecords } from '../../../node/probes/ours.ts';
import type { Fact } from '../../fact.ts';

/** The network change that waits on the node for its confirmation, or is being taken back; at most one. */
export const rollbacks: Fact<'rollbacks'> = {
  name: 'rollbacks',
  from: [keptRecords],
  parse: ([answer]) => {
    const kept = readKept(answer);
    return kept.kind === 'unknown' ? kept : known(kept.value.rollbacks);
  },
};
