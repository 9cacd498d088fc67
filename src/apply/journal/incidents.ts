import { join } from 'node:path';
import type { Incident, PastCure } from '../../engine/diagnose/past-cures.ts';
import { given } from '../../model/given.ts';
import { type JournalRecord, type RecordedRun, readableRuns } from './journal.ts';

/** The journals of `recover`, apart from those of runs so that many runs do not displace them. */
export const incidentFolder = (journals: string): string => join(journals, 'incidents');

/** A cure was booked before it began, so a cure without a result was cut off. */
export const curesOf = (records: readonly JournalRecord[]): readonly PastCure[] =>
  records.flatMap((one, at): readonly PastCure[] => {
    if (one.phase !== 'cure') return [];
    const { rung, names, placements } = one;
    const next = records[at + 1];
    if (next?.phase !== 'cured') return [{ rung, names, placements }];
    const { isDone, ms, hasChanged } = next;
    const result = { isDone, ms, ...given({ hasChanged }) };
    return [{ rung, names, placements, ...result }];
  });

function incidentOf({ runId, records }: RecordedRun): Incident | undefined {
  const [first, last] = [records[0], records.at(-1)];
  const cures = curesOf(records);
  if (first === undefined || cures.length === 0) return undefined;
  const end = last?.phase === 'end' && last.isServing !== undefined ? { isServing: last.isServing } : {};
  return { runId, startedAtMs: Date.parse(first.at), cures, ...end };
}

/** The incidents of a cluster, newest first; none if they cannot be read. */
export const readIncidents = (journals: string): readonly Incident[] =>
  readableRuns(incidentFolder(journals)).flatMap((run) => incidentOf(run) ?? []);
