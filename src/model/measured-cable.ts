import type { JournalMeasured } from './files.generated.ts';
import { given } from './given.ts';
import { type Link, linkEndText, type NodeName } from './node.ts';

/** A measured cable, as the journal records it. */
export type MeasuredCable = Omit<JournalMeasured, 'seq' | 'runId' | 'at' | 'sum' | 'phase'>;

/** One transport's result over one cable: latencies of one way, and rates from the first end to the second, and back. */
export type TransportResult = NonNullable<MeasuredCable['rdma']>;

export type CableVerdict = MeasuredCable['verdict'];

/** A cable's newest measurement with a verdict, and its time in ISO 8601; one without, if there is no other. */
export interface NewestMeasurement {
  readonly at: string;
  /** The time of a newer measurement, which ended without a verdict. */
  readonly triedAt?: string;
  readonly cable: MeasuredCable;
}

/** What a link carried in its newest measurement. */
export interface MeasuredLink extends Pick<NewestMeasurement, 'at' | 'triedAt'> {
  /** `rdma`: TCP, too, even if slowly. `unknown`: the measurement ended without a verdict. */
  readonly carries: 'rdma' | 'tcp' | 'nothing' | 'unknown';
}

/** What a link carried since these times, in milliseconds, at which its Macs booted; undefined if it was not measured. */
export function carriedSince(
  found: MeasuredLink | undefined,
  bootTimes: readonly number[],
): MeasuredLink['carries'] | undefined {
  const isSince = (at = ''): boolean => bootTimes.every((bootedAt) => Date.parse(at) > bootedAt);
  if (isSince(found?.at)) return found?.carries;
  return isSince(found?.triedAt) ? 'unknown' : undefined;
}

const carriedBy: Readonly<Record<CableVerdict, MeasuredLink['carries']>> = {
  good: 'rdma',
  unrated: 'rdma',
  slow: 'rdma',
  'tcp-only': 'tcp',
  dead: 'nothing',
  unknown: 'unknown',
};

/** The links that were measured, by {@link Link.index}. */
export const measuredLinks = (
  links: readonly Link[],
  measured: readonly NewestMeasurement[],
): Readonly<Record<number, MeasuredLink>> =>
  Object.fromEntries(
    links.flatMap(({ index, ends }) => {
      const found = measurementOf(measured, ends);
      if (found === undefined) return [];
      const { at, triedAt, cable } = found;
      return [[index, { at, carries: carriedBy[cable.verdict], ...given({ triedAt }) }]];
    }),
  );

/** The Macs at the ends of all these links; if no Mac is at all of them, every Mac at their ends. */
export function commonMacs(links: readonly Pick<Link, 'ends'>[]): readonly NodeName[] {
  const all = [...new Set(links.flatMap(({ ends }) => ends.map(({ node }) => node)))].toSorted();
  const common = all.filter((name) => links.every(({ ends }) => ends.some(({ node }) => node === name)));
  return common.length > 0 ? common : all;
}

const keyOf = (ends: readonly string[]): string => ends.toSorted().join(' ');

/** The measurement of a link, whichever end comes first; undefined if it was not measured. */
export const measurementOf = (
  measured: readonly NewestMeasurement[],
  ends: Link['ends'],
): NewestMeasurement | undefined => {
  const key = keyOf(ends.map(linkEndText));
  return measured.find(({ cable }) => keyOf(cable.ends) === key);
};
