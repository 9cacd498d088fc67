import { parseLinkEnd } from '../../desired/addresses.ts';
import type { NewestMeasurement } from '../../model/measured-cable.ts';
import { type JournalRecord, readableRuns } from './journal.ts';

/**
 * The newest measurement of each cable in a cluster's journals. One without a verdict does not hide an older one. One of
 * a dead cable is out of date once a placement with ranks on both its Macs has returned a token.
 */
export function readMeasuredCables(folder: string): readonly NewestMeasurement[] {
  const newest = new Map<string, NewestMeasurement | undefined>();
  const newerRuns: (readonly JournalRecord[])[] = [];
  for (const { records } of readableRuns(folder)) {
    for (const record of records) {
      if (record.phase !== 'measured') continue;
      const { seq: _seq, runId: _run, at, phase: _phase, ...cable } = record;
      const key = cable.ends.toSorted().join(' ');
      const newer = newest.get(key);
      const macs = cable.ends.map((end) => parseLinkEnd(end)?.node ?? end);
      const hasServed = (nodes: readonly string[]): boolean => macs.every((mac) => nodes.includes(mac));
      const isOver = cable.verdict === 'dead' && newerRuns.flatMap(servedIn).some(hasServed);
      if (!newest.has(key)) newest.set(key, isOver ? undefined : { at, cable });
      else if (newer?.cable.verdict === 'unknown' && cable.verdict !== 'unknown' && !isOver) {
        newest.set(key, { at, cable, triedAt: newer.at });
      }
    }
    newerRuns.push(records);
  }
  return [...newest.values()].filter((one) => one !== undefined);
}

/** The Macs of each placement that a run has started and that then returned a token. */
function servedIn(records: readonly JournalRecord[]): readonly (readonly string[])[] {
  const done = new Set(
    records.flatMap((one) =>
      one.phase === 'outcome' && (one.outcome === 'changed' || one.outcome === 'unchanged') ? one.step : [],
    ),
  );
  const steps = records.flatMap((one) => (one.phase === 'intent' && done.has(one.step) ? one : []));
  return steps
    .filter(({ act }) => act === 'prove')
    .map(({ changes }) =>
      steps.filter(
        (one) =>
          (one.effect === 'start' || one.effect === 'rdma-start') && one.changes.some((id) => changes.includes(id)),
      ),
    )
    .map((starts) => starts.map(({ node }) => node));
}
