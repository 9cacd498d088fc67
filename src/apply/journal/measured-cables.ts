import { parseLinkEnd } from '../../desired/addresses.ts';
import type { CableVerdict, NewestMeasurement } from '../../model/measured-cable.ts';
import type { EffectKind } from '../../model/step.ts';
import { type JournalRecord, readableRuns } from './journal.ts';

/**
 * The newest measurement of each cable in a cluster's journals. One without a verdict does not hide an older one. One of
 * a dead cable is out of date once a placement with ranks on both its Macs has returned a token; one of a cable without
 * RDMA, once such a placement over RDMA has.
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
      const effects = disproved[cable.verdict];
      const isOver = effects !== undefined && newerRuns.flatMap((run) => servedIn(run, effects)).some(hasServed);
      if (!newest.has(key)) newest.set(key, isOver ? undefined : { at, cable });
      else if (newer?.cable.verdict === 'unknown' && cable.verdict !== 'unknown' && !isOver) {
        newest.set(key, { at, cable, triedAt: newer.at });
      }
    }
    newerRuns.push(records);
  }
  return [...newest.values()].filter((one) => one !== undefined);
}

/** The starts that show that a cable carries what it did not carry when it was measured. */
const disproved: Readonly<Partial<Record<CableVerdict, readonly EffectKind[]>>> = {
  dead: ['start', 'rdma-start'],
  'tcp-only': ['rdma-start'],
};

/** The Macs of each placement that a run has started with such a start, and that then returned a token. */
function servedIn(records: readonly JournalRecord[], effects: readonly EffectKind[]): readonly (readonly string[])[] {
  const done = new Set(
    records.flatMap((one) =>
      one.phase === 'outcome' && (one.outcome === 'changed' || one.outcome === 'unchanged') ? one.step : [],
    ),
  );
  const steps = records.flatMap((one) => (one.phase === 'intent' && done.has(one.step) ? one : []));
  return steps
    .filter(({ act }) => act === 'prove')
    .map(({ changes }) =>
      steps.filter((one) => effects.includes(one.effect) && one.changes.some((id) => changes.includes(id))),
    )
    .map((starts) => starts.map(({ node }) => node));
}
