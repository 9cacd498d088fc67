import type { NodeLease } from '../model/fact-values.ts';
import { known } from '../model/known.ts';
import type { Fact } from './fact.ts';
import { isLeaseHead, keyOfJobHead } from './kept-heads.ts';
import { keptRecords } from './probes/ours.ts';
import { garbled } from './read-answer.ts';
import { readFields, readRecords } from './records.ts';

/** The lease that a run holds on the node, or held when it died; without fields when it died while taking it. */
export const leases: Fact<'leases'> = {
  name: 'leases',
  from: [keptRecords],
  parse: ([answer]) => {
    const records = readRecords(answer);
    if (records.kind === 'unknown') return records;
    const found: NodeLease[] = [];
    for (const { head, lines } of records.value) {
      if (keyOfJobHead(head) !== undefined) continue;
      const fields = readFields(lines);
      if (!isLeaseHead(head) || fields === undefined) return garbled(answer, 'printed a record that is no lease');
      found.push({ fields });
    }
    return found.length > 1 ? garbled(answer, 'printed more than one lease') : known(found);
  },
};
