import type { NodeTransaction } from '../../../model/facts/node-records.ts';
import { type Known, mapKnown } from '../../../model/known.ts';
import { readStoredRecords } from '../../../node/probes/stored-records.ts';
import { storedRecords } from '../../../node/probes/stored-records-scripts.ts';
import { defineFact } from '../../fact.ts';
import { fieldsText } from '../../records/leases-fact.ts';

/** The network change on the node that is waiting for confirmation or being rolled back; at most one. */
export const transactionsFact = defineFact({
  name: 'transactions',
  from: [storedRecords],
  parse: ([answer]): Known<readonly NodeTransaction[]> =>
    mapKnown(readStoredRecords(answer), ({ transactions }) => transactions),
  text: (transactions) => transactions.map(({ state, fields }) => `${state}: ${fieldsText(fields)}`),
});
