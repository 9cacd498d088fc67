import type { JournalMeasured } from './files.generated.ts';
import { type Link, linkEndText } from './node.ts';

/** A measured cable, as the journal records it. */
export type MeasuredCable = Omit<JournalMeasured, 'seq' | 'runId' | 'at' | 'sum' | 'phase'>;

/** One transport's result over one cable: latencies of one way, and rates from the first end to the second, and back. */
export type TransportResult = NonNullable<MeasuredCable['rdma']>;

export type CableVerdict = MeasuredCable['verdict'];

/** A cable's newest measurement with its time, in ISO 8601. */
export interface KeptMeasurement {
  readonly at: string;
  readonly cable: MeasuredCable;
}

const keyOf = (ends: readonly string[]): string => ends.toSorted().join(' ');

/** The measurement of a link, whichever end comes first; undefined if it was not measured. */
export const measurementOf = (kept: readonly KeptMeasurement[], ends: Link['ends']): KeptMeasurement | undefined => {
  const key = keyOf(ends.map(linkEndText));
  return kept.find(({ cable }) => keyOf(cable.ends) === key);
};
