import type { Facts } from '../../model/facts/fact-values.ts';
import type { NodeJob } from '../../model/facts/node-records.ts';
import { readValue } from '../fact.ts';
import { jobsFact } from '../records/jobs-fact.ts';

/** The installation of an update that was started in this boot session and has not failed; its label is a field. */
export const runningUpdate = (facts: Facts | undefined): NodeJob['fields'] | undefined =>
  readValue(facts, jobsFact)?.find(({ fields }) => fields['name'] === 'install-macos' && fields['state'] === 'running')
    ?.fields;
