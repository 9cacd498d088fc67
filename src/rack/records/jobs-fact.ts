import type { NodeJob } from '../../model/facts/node-records.ts';
import { given } from '../../model/given.ts';
import { allKnown, andThen, type Known, known, mapKnown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { isUuid } from '../../node/answers/grammar.ts';
import { sysctlValues } from '../../node/answers/printed-values.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { type JobProcess, readStoredRecords } from '../../node/probes/stored-records.ts';
import { storedRecords } from '../../node/probes/stored-records-scripts.ts';
import { sysctl } from '../../node/probes/sysctl.ts';
import { defineFact } from '../fact.ts';
import { fieldsText } from './leases-fact.ts';

type Fields = NodeJob['fields'];

/**
 * The jobs recorded on the node, each by its key. A job without an exit code is running only in the current boot session,
 * and only if its process still has the job's key in its command line, because PIDs are reused.
 */
export const jobsFact = defineFact({
  name: 'jobs',
  from: [storedRecords, sysctl],
  parse: ([answer, boot]): Known<readonly NodeJob[]> => {
    const jobOf = ({ key, fields }: NodeJob, processes: Known<readonly JobProcess[]>): Known<NodeJob> => {
      const job = fieldsOf(fields);
      if (job === undefined) return garbled(answer, `printed unreadable fields of job ${key}`);
      return mapKnown(stateOf(key, fields, processes, boot), (state) => ({ key, fields: { ...job, state } }));
    };
    return andThen(readStoredRecords(answer), ({ jobs, processes }) =>
      allKnown(jobs.map((job) => jobOf(job, processes))),
    );
  },
  text: (jobs) => jobs.map(({ key, fields }) => `${key}: ${fieldsText(fields)}`),
});

function fieldsOf({ pid: _pid, progress, ...fields }: Fields): Fields | undefined {
  if (fields['exit'] !== undefined && !/^\d{1,3}$/.test(fields['exit'])) return undefined;
  if (progress === undefined) return fields;
  const [, done = '', total] = /^(\d{1,16})(?: (\d{1,16}))?$/.exec(progress) ?? [];
  return done === '' ? undefined : { ...fields, done, ...given({ total }) };
}

function stateOf(
  key: string,
  fields: Fields,
  processes: Known<readonly JobProcess[]>,
  boot: Answer | undefined,
): Known<'running' | 'ended' | 'gone'> {
  if (fields['exit'] !== undefined) return known('ended');
  if (fields['pid'] === undefined) return known('gone');
  if (processes.kind === 'unknown') return processes;
  const isThere = processes.value.some(({ pid, command }) => pid === fields['pid'] && command.includes(`/${key}/`));
  if (!isThere) return known('gone');
  const session = sysctlValues(boot, ['kern.bootsessionuuid']);
  if (session.kind === 'unknown') return session;
  const [uuid = ''] = session.value;
  if (!isUuid(uuid)) return garbled(boot, 'printed no UUID of the boot session');
  return known(fields['boot'] === uuid ? 'running' : 'gone');
}
