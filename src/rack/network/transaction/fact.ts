import type { NodeTransaction } from '../../../model/facts/node-records.ts';
import { type Known, mapKnown } from '../../../model/known.ts';
import { readKept } from '../../../node/probes/kept.ts';
import { keptRecords } from '../../../node/probes/kept-scripts.ts';
import { defineFact } from '../../fact.ts';
import { fieldsText } from '../../records/leases-fact.ts';

/** The network change on the node that is waiting for confirmation or being rolled back; at most one. */
export const transactionsFact = defineFact({
  name: 'transactions',
  from: [keptRecords],
  parse: ([answer]): Known<readonly NodeTransaction[]> =>
    mapKnown(readKept(answer), ({ transactions }) => transactions),
  text: (transactions) => transactions.map(({ state, fields }) => `${state}: ${fieldsText(fields)}`),
});
