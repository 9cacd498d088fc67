import { type Known, mapKnown } from '../../model/known.ts';
import { readStoredRecords } from '../../node/probes/stored-records.ts';
import { storedRecords } from '../../node/probes/stored-records-scripts.ts';
import { defineFact } from '../fact.ts';

/** The lease that a run has on the node, or had when it died. Fields: `run`, `token`, `owner`, `verb`, `heartbeat`, … */
export interface NodeLease {
  readonly fields: Readonly<Record<string, string>>;
}

/** The node's lease. It has no fields if the run died while taking the lease. */
export const leasesFact = defineFact({
  name: 'leases',
  from: [storedRecords],
  parse: ([answer]): Known<readonly NodeLease[]> => mapKnown(readStoredRecords(answer), ({ leases }) => leases),
  text: (leases) => leases.map(({ fields }) => fieldsText(fields)),
});

/** A record's fields, in order: `by studio-1, since 12`. */
export const fieldsText = (fields: Readonly<Record<string, string>>): string =>
  Object.entries(fields)
    .map(([key, value]) => `${key} ${value}`)
    .join(', ');
