import type { MeasuredRate, MeasuredRates, TransferSource } from '../../engine/plan/transfers.ts';
import { groupBy } from '../../model/lists.ts';
import { type JournalRecord, type RecordedRun, readableRuns } from './journal.ts';
import { readMeasuredCables } from './measured-cables.ts';

interface Measured {
  readonly node: string;
  readonly transfer: NonNullable<Extract<JournalRecord, { phase: 'outcome' }>['transfer']>;
}

const sources: readonly TransferSource[] = ['uplink', 'lan', 'controller', 'cables', 'ssh'];

/** As many newest runs may measure a rate for the next plan. */
const readRuns = 10;

/** Of each source, the rate in the newest run of a cluster that measured it; none if its journals cannot be read. */
export const readRates = (folder: string): MeasuredRates => ({
  ...cableRate(folder),
  ...measuredRates(readableRuns(folder, readRuns)),
});

/** TCP over the slowest of the measured cables, because models go over all cables at once. */
function cableRate(folder: string): MeasuredRates {
  const rates = readMeasuredCables(folder).flatMap(({ at, cable: { tcp } }) =>
    tcp === undefined ? [] : [{ at, bytesPerSecond: Math.min(...tcp.bytesPerSecond) }],
  );
  const [slowest] = rates.toSorted((a, b) => a.bytesPerSecond - b.bytesPerSecond);
  return slowest === undefined ? {} : { oneCable: slowest };
}

function measuredRates(runs: readonly Pick<RecordedRun, 'records'>[]): MeasuredRates {
  const rates = runs.toReversed().flatMap(({ records: [first, ...records] }) => {
    const measured = records.flatMap((one): readonly Measured[] =>
      one.phase === 'outcome' && one.transfer !== undefined ? [{ node: one.node, transfer: one.transfer }] : [],
    );
    return sources.flatMap((source): readonly [TransferSource, MeasuredRate][] => {
      const bytesPerSecond = rateOf(source, measured);
      return bytesPerSecond === undefined || first === undefined ? [] : [[source, { bytesPerSecond, at: first.at }]];
    });
  });
  return Object.fromEntries(rates);
}

function rateOf(source: TransferSource, measured: readonly Measured[]): number | undefined {
  const isFromNodes = (from: string): boolean => from === 'cables' || from === 'ssh';
  // While a node downloads what it serves, its download decides the rate.
  if (isFromNodes(source) && !measured.every(({ transfer }) => isFromNodes(transfer.from))) return undefined;
  const nodes = groupBy(
    measured.filter(({ transfer }) => transfer.from === source),
    ({ node }) => node,
  );
  if (nodes.size === 0) return undefined;
  const sums = [...nodes.values()].map((all) => ({
    bytes: all.reduce((total, { transfer }) => total + transfer.bytes, 0),
    ms: all.reduce((total, { transfer }) => total + transfer.ms, 0),
  }));
  if (isFromNodes(source)) return Math.min(...sums.map(({ bytes, ms }) => (1_000 * bytes) / ms));
  const bytes = sums.reduce((total, one) => total + one.bytes, 0);
  return (1_000 * bytes) / Math.max(...sums.map(({ ms }) => ms));
}
