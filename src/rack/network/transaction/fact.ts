import type { NodeRollback } from '../../../model/facts/node-records.ts';
import { type Known, known } from '../../../model/known.ts';
import { readKept } from '../../../node/probes/kept.ts';
import { keptRecords } from '../../../node/probes/kept-scripts.ts';
import { defineFact } from '../../fact.ts';
import { fieldsText } from '../../records/leases-fact.ts';

/** The network change that waits on the node for its confirmation, or is being taken back; at most one. */
export const rollbacksFact = defineFact({
  name: 'rollbacks',
  from: [keptRecords],
  parse: ([answer]): Known<readonly NodeRollback[]> => {
    const kept = readKept(answer);
    return kept.kind === 'unknown' ? kept : known(kept.value.rollbacks);
  },
  text: (rollbacks) => rollbacks.map(({ state, fields }) => `${state}: ${fieldsText(fields)}`),
});
