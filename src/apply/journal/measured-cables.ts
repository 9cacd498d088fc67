import type { NewestMeasurement } from '../../model/measured-cable.ts';
import { readableRuns } from './journal.ts';

/** The newest measurement of each cable in a cluster's journals; one without a verdict does not hide an older one. */
export function readMeasuredCables(folder: string): readonly NewestMeasurement[] {
  const newest = new Map<string, NewestMeasurement>();
  for (const { records } of readableRuns(folder)) {
    for (const record of records) {
      if (record.phase !== 'measured') continue;
      const { seq: _seq, runId: _run, at, phase: _phase, ...cable } = record;
      const key = cable.ends.toSorted().join(' ');
      const newer = newest.get(key);
      if (newer === undefined) newest.set(key, { at, cable });
      else if (newer.cable.verdict === 'unknown' && cable.verdict !== 'unknown') {
        newest.set(key, { at, cable, triedAt: newer.at });
      }
    }
  }
  return [...newest.values()];
}
