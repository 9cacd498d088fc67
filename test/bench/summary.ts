import type { Pair } from './observation.ts';
import type { StartUpRound } from './start-up.ts';

/** Middle, smallest and largest of some measured values. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The spread of values, of which there is at least one. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  const half = Math.floor(sorted.length / 2);
  const median = sorted.length % 2 === 1 ? at(half) : (at(half - 1) + at(half)) / 2;
  return { median, min: at(0), max: at(sorted.length - 1) };
}

/** One thing that must not exceed a limit. */
export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly limit: number;
  readonly unit: 'x' | 'MB';
  readonly isReached: boolean;
}

/** Everything that one run measured. */
export interface Measured {
  readonly observation: readonly { readonly nodes: number; readonly pairs: readonly Pair[] }[];
  /** Peaks of single observations, in bytes. */
  readonly memory?: { readonly nodes: number; readonly peakBytes: readonly number[] };
  readonly startUp: readonly StartUpRound[];
}

const observationLimits: Readonly<Record<number, number>> = { 4: 2, 16: 1.1 };
const memoryLimitMegabytes = 120;

const bar = (name: string, value: number, limit: number, unit: Bar['unit']): Bar => ({
  name,
  value,
  limit,
  unit,
  isReached: value <= limit,
});

const medianOf = <T>(rows: readonly T[], read: (row: T) => number): number => spreadOf(rows.map(read)).median;

type Floor = 'sshMs' | 'sameAlgorithmsMs';

/** Median of ours by median of the floor. */
const ratioOf = (pairs: readonly Pair[], floor: Floor): number =>
  medianOf(pairs, (pair) => pair.meshwrightMs) / medianOf(pairs, (pair) => pair[floor]);

/** The bars that this run can judge, in a fixed order. */
export function barsOf({ observation, memory, startUp }: Measured): readonly Bar[] {
  const seen = observation.flatMap(({ nodes, pairs }) => {
    const limit = observationLimits[nodes];
    return limit === undefined ? [] : [bar(`facts of ${nodes} nodes, by ssh`, ratioOf(pairs, 'sshMs'), limit, 'x')];
  });
  const peak = memory === undefined ? [] : [Math.max(...memory.peakBytes) / 1e6];
  const bare = medianOf(startUp, (round) => round.nodeMs);
  return [
    ...seen,
    ...peak.map((value) => bar(`memory at ${memory?.nodes} nodes`, value, memoryLimitMegabytes, 'MB')),
    bar('--version, by node -e 0', medianOf(startUp, (round) => round.versionMs) / bare, 3, 'x'),
    bar('validate, by node -e 0', medianOf(startUp, (round) => round.validateMs) / bare, 6, 'x'),
  ];
}

const spreadText = (values: readonly number[]): string => {
  const { median, min, max } = spreadOf(values);
  return `${median.toFixed(0)} (${min.toFixed(0)}-${max.toFixed(0)})`;
};

const row = (cells: readonly string[]): string =>
  `${(cells[0] ?? '').padEnd(22)}${cells
    .slice(1, 3)
    .map((cell) => cell.padStart(20))
    .join('')}${(cells[3] ?? '').padStart(9)}\n`;

/** Times as a table of at most 80 columns: median and spread in milliseconds. */
export function timesText({ observation, startUp }: Measured): string {
  const observed = (floor: Floor): readonly string[] =>
    observation.map(({ nodes, pairs }) =>
      row([
        `facts, ${nodes} nodes`,
        spreadText(pairs.map((pair) => pair.meshwrightMs)),
        spreadText(pairs.map((pair) => pair[floor])),
        `${ratioOf(pairs, floor).toFixed(2)}x`,
      ]),
    );
  const bare = startUp.map((round) => round.nodeMs);
  const started = (name: string, values: readonly number[]): string =>
    row([
      name,
      spreadText(values),
      spreadText(bare),
      `${(spreadOf(values).median / spreadOf(bare).median).toFixed(2)}x`,
    ]);
  return [
    row(['ms, median (spread)', 'meshwright', 'floor: system ssh', 'ratio']),
    ...observed('sshMs'),
    row(['', 'meshwright', 'ssh, our algorithms', 'ratio']),
    ...observed('sameAlgorithmsMs'),
    row(['', 'meshwright', 'floor: node -e 0', 'ratio']),
    started(
      '--version',
      startUp.map((round) => round.versionMs),
    ),
    started(
      'validate',
      startUp.map((round) => round.validateMs),
    ),
  ].join('');
}

/** One line per bar; a missed one is loud. */
export const barsText = (bars: readonly Bar[]): string =>
  bars
    .map(({ name, value, limit, unit, isReached }) => {
      const digits = unit === 'x' ? 3 : 0;
      const found = `${value.toFixed(digits)} ${unit}`.padStart(10);
      return `${name.padEnd(30)}${found}   at most ${`${limit.toFixed(1)} ${unit}`.padEnd(9)} ${isReached ? 'pass' : 'MISSED'}\n`;
    })
    .join('');
