import type { NodeJob } from '../model/fact-values.ts';
import { known } from '../model/known.ts';
import type { Fact } from './fact.ts';
import { isLeaseHead, keyOfJobHead } from './kept-heads.ts';
import { keptRecords } from './probes/ours.ts';
import { garbled } from './read-answer.ts';
import { readFields, readRecords } from './records.ts';

/** The jobs that are kept on the node, running or not: each by its key, with the fields of its file. */
export const jobs: Fact<'jobs'> = {
  name: 'jobs',
  from: [keptRecords],
  parse: ([answer]) => {
    const records = readRecords(answer);
    if (records.kind === 'unknown') return records;
    const found: NodeJob[] = [];
    for (const { head, lines } of records.value) {
      const key = keyOfJobHead(head);
      const fields = readFields(lines);
      if (key === undefined && !isLeaseHead(head)) return garbled(answer, 'printed a record that is no job');
      if (key === undefined) continue;
      if (fields === undefined) return garbled(answer, `printed fields of job ${key} that cannot be read`);
      found.push({ key, fields });
    }
    const isUnambiguous = new Set(found.map(({ key }) => key)).size === found.length;
    return isUnambiguous ? known(found) : garbled(answer, 'printed one job twice');
  },
};
