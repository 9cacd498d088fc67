import type { ExchangeTime } from './exchange.ts';
import type { FirstToken } from './first-token.ts';
import type { Pair } from './floor.ts';
import type { FnvRound } from './fnv.ts';
import type { GatewayTimes } from './gateway.ts';
import type { LostRound } from './lost-rank.ts';
import type { RecoverRound } from './recover.ts';
import type { StartUpRound } from './start-up.ts';

/** Median, minimum and maximum of measured values. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The spread of at least one value. */
function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  const half = Math.floor(sorted.length / 2);
  const median = sorted.length % 2 === 1 ? at(half) : (at(half - 1) + at(half)) / 2;
  return { median, min: at(0), max: at(sorted.length - 1) };
}

/** A value that must not exceed a limit. */
export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly limit: number;
  readonly unit: 'x' | 'MB' | 's';
  readonly isReached: boolean;
}

/** Pairs of a rack with this many nodes. */
export interface PairsOf {
  readonly nodes: number;
  readonly pairs: readonly Pair[];
}

/** The applies to a rack with this many nodes; the pairs are applies without changes. */
export interface Applies extends PairsOf {
  readonly firstMs: number;
  readonly oneFileMs: readonly number[];
}

/** All results of one run. */
export interface Measured {
  readonly observation: readonly PairsOf[];
  readonly apply: readonly Applies[];
  /** Peaks of single observations, in bytes. */
  readonly memory?: { readonly nodes: number; readonly peakBytes: readonly number[] };
  readonly startUp: readonly StartUpRound[];
  readonly lost: readonly LostRound[];
  readonly recover: readonly RecoverRound[];
  readonly gateway?: GatewayTimes;
  /** Only on Linux, as root. */
  readonly exchanges?: readonly ExchangeTime[];
  /** Only on Linux, as root, with PyPI. */
  readonly firstTokens?: readonly FirstToken[];
  /** Only with a C++ compiler. */
  readonly fnv?: readonly FnvRound[];
}

/** Limits of an observation, by nodes. */
const lookLimits: Readonly<Record<number, number>> = { 4: 2, 16: 1.1 };
/**
 * Racks whose applies have limits. Applies without changes are compared with both floors; at 16 nodes, applies with
 * changes have limits, too.
 */
const applyNodes: readonly number[] = [4, 16];
const largestApplied = 16;
const noOpLimits: Readonly<Record<Floor, number>> = { sshMs: 1, sameAlgorithmsMs: 1.1 };
const oneFileLimit = 1.5;
const firstApplyLimit = 6;
const memoryLimitMegabytes = 120;
/** Limits of an observation of a mesh without one rank, relative to the usual one, and until a silent Mac is named. */
const lostLimit = 1.3;
const namedLimitSeconds = 4.5;
/**
 * Limits of a gateway under hostile load: the additional wait of a client, and half a GiB of memory, as `fit` assumes.
 */
const gatewayLimitSeconds = 2;
const gatewayLimitMegabytes = 537;
/** Limits next to all bad clients and answers of another placement at once. */
const neighborsLimitSeconds = 1;
const neighborsLimitMegabytes = 512;

/** From the first token of a real leader on its node to the end of the apply. */
const afterTokenLimitSeconds = 5;

const bar = (name: string, value: number, limit: number, unit: Bar['unit']): Bar => ({
  name,
  value,
  limit,
  unit,
  isReached: value <= limit,
});

const medianOf = <T>(rows: readonly T[], read: (row: T) => number): number => spreadOf(rows.map(read)).median;

type Floor = 'sshMs' | 'sameAlgorithmsMs';

/** The median of meshwright divided by the median of the floor. */
const ratioOf = (pairs: readonly Pair[], floor: Floor): number =>
  medianOf(pairs, (pair) => pair.meshwrightMs) / medianOf(pairs, (pair) => pair[floor]);

const lookBars = (sizes: readonly PairsOf[]): readonly Bar[] =>
  sizes.flatMap(({ nodes, pairs }) => {
    const limit = lookLimits[nodes];
    return limit === undefined ? [] : [bar(`facts of ${nodes} nodes, by ssh`, ratioOf(pairs, 'sshMs'), limit, 'x')];
  });

function applyBars({ nodes, pairs, firstMs, oneFileMs }: Applies): readonly Bar[] {
  if (!applyNodes.includes(nodes)) return [];
  const noOp = (floor: Floor, by: string): Bar =>
    bar(`no-op, ${nodes} nodes, by ${by}`, ratioOf(pairs, floor), noOpLimits[floor], 'x');
  const noOpMs = medianOf(pairs, (pair) => pair.meshwrightMs);
  const changes = [
    bar(`one file, ${nodes} nodes, by no-op`, spreadOf(oneFileMs).median / noOpMs, oneFileLimit, 'x'),
    bar(`first, ${nodes} nodes, by no-op`, firstMs / noOpMs, firstApplyLimit, 'x'),
  ];
  return [noOp('sshMs', 'ssh'), noOp('sameAlgorithmsMs', 'equal ssh'), ...(nodes === largestApplied ? changes : [])];
}

function lostBars(lost: readonly LostRound[]): readonly Bar[] {
  if (lost.length === 0) return [];
  const usual = medianOf(lost, (round) => round.usualMs);
  return [
    bar('status, a rank lost, by status', medianOf(lost, (round) => round.rankLostMs) / usual, lostLimit, 'x'),
    bar('status, others of a silent Mac', medianOf(lost, (round) => round.othersMs) / usual, lostLimit, 'x'),
    bar('status, a silent Mac is named', medianOf(lost, (round) => round.namedMs) / 1_000, namedLimitSeconds, 's'),
  ];
}

/** Limits of `recover`: with nothing to do, and beyond what stopping and loading take. */
const healthyLimitSeconds = 3;
const ownLimitSeconds = 15;

const ownMs = ({ wholeMs, neededMs }: RecoverRound): number => wholeMs - neededMs;

function recoverBars(rounds: readonly RecoverRound[]): readonly Bar[] {
  if (rounds.length === 0) return [];
  return [
    bar('recover, nothing is wrong', medianOf(rounds, ({ healthyMs }) => healthyMs) / 1_000, healthyLimitSeconds, 's'),
    bar('recover, own time', medianOf(rounds, ownMs) / 1_000, ownLimitSeconds, 's'),
  ];
}

function gatewayBars(times: GatewayTimes | undefined): readonly Bar[] {
  if (times === undefined) return [];
  const { usualMs, peakBytes, neighbors } = times;
  const later = (what: string, ms: number): Bar =>
    bar(`gateway, later beside ${what}`, (ms - usualMs) / 1_000, gatewayLimitSeconds, 's');
  return [
    later('silence', times.silentMs),
    later('uploads', times.uploadsMs),
    later('long JSON', times.longJsonMs),
    ...(peakBytes === undefined ? [] : [bar('gateway, memory', peakBytes / 1e6, gatewayLimitMegabytes, 'MB')]),
    bar(
      'gateway, later beside neighbors',
      (neighbors.besideMs - neighbors.aloneMs) / 1_000,
      neighborsLimitSeconds,
      's',
    ),
    ...(neighbors.peakBytes === undefined
      ? []
      : [bar('gateway, memory with neighbors', neighbors.peakBytes / 1e6, neighborsLimitMegabytes, 'MB')]),
  ];
}

const exchangeBars = (exchanges: Measured['exchanges'] = []): readonly Bar[] =>
  exchanges.map(({ name, seconds, boundSeconds, limit }) => bar(`model, ${name}`, seconds / boundSeconds, limit, 'x'));

/** The native hash runs at 95 % of a plain C loop's rate, and at 2 and 20 times the rates of two ways in JavaScript. */
function fnvBars(rounds: Measured['fnv']): readonly Bar[] {
  if (rounds === undefined) return [];
  const least = (way: keyof FnvRound): number => spreadOf(rounds.map((round) => round[way])).min;
  return [
    bar('fnv, by a plain C loop', least('native') / least('plainC'), 1 / 0.95, 'x'),
    bar('fnv, by JavaScript', least('native') / least('javaScript'), 1 / 2, 'x'),
    bar('fnv, by big integers', least('native') / least('bigInt'), 1 / 20, 'x'),
  ];
}

/** The limits that this run measured, in a fixed order. */
export function barsOf({
  observation,
  apply,
  memory,
  startUp,
  lost,
  recover,
  gateway,
  exchanges,
  firstTokens = [],
  fnv,
}: Measured): readonly Bar[] {
  const waits = firstTokens.map(({ afterTokenMs }) => afterTokenMs / 1_000);
  const wait = waits.length === 0 ? [] : [spreadOf(waits).median];
  const peak = memory === undefined ? [] : [Math.max(...memory.peakBytes) / 1e6];
  const bare = medianOf(startUp, (round) => round.nodeMs);
  return [
    ...lookBars(observation),
    ...apply.flatMap(applyBars),
    ...lostBars(lost),
    ...recoverBars(recover),
    ...gatewayBars(gateway),
    ...exchangeBars(exchanges),
    ...wait.map((value) => bar('apply, after the first token', value, afterTokenLimitSeconds, 's')),
    ...fnvBars(fnv),
    ...peak.map((value) => bar(`memory at ${memory?.nodes} nodes`, value, memoryLimitMegabytes, 'MB')),
    bar('--version, by node -e 0', medianOf(startUp, (round) => round.versionMs) / bare, 3, 'x'),
    bar('validate, by node -e 0', medianOf(startUp, (round) => round.validateMs) / bare, 3.5, 'x'),
  ];
}

const spreadText = (values: readonly number[]): string => {
  const { median, min, max } = spreadOf(values);
  if (values.length === 1) return median.toFixed(0);
  return `${median.toFixed(0)} (${min.toFixed(0)}-${max.toFixed(0)})`;
};

const row = ([name = '', ours = '', floor = '', ratio = '']: readonly string[]): string =>
  `${`${name.padEnd(22)}${ours.padStart(20)}${floor.padStart(20)}${ratio.padStart(9)}`.trimEnd()}\n`;

const floorRows = ({ observation, apply }: Measured, floor: Floor): readonly string[] =>
  [
    ...observation.map((one) => ({ ...one, what: 'facts' })),
    ...apply.map((one) => ({ ...one, what: 'no-op apply' })),
  ].map(({ what, nodes, pairs }) =>
    row([
      `${what}, ${nodes} nodes`,
      spreadText(pairs.map((pair) => pair.meshwrightMs)),
      spreadText(pairs.map((pair) => pair[floor])),
      `${ratioOf(pairs, floor).toFixed(2)}x`,
    ]),
  );

function startUpRow(name: string, values: readonly number[], bare: readonly number[]): string {
  const ratio = spreadOf(values).median / spreadOf(bare).median;
  return row([name, spreadText(values), spreadText(bare), `${ratio.toFixed(2)}x`]);
}

/** Applies with changes have no floor: there is no comparable tool. */
const changeRows = ({ apply, firstTokens = [] }: Measured): readonly string[] => [
  ...apply.flatMap(({ nodes, firstMs, oneFileMs }) => [
    row([`first apply, ${nodes} nodes`, spreadText([firstMs])]),
    row([`one file, ${nodes} nodes`, spreadText(oneFileMs)]),
  ]),
  ...(firstTokens.length === 0
    ? []
    : [row(['first apply, real mlx', spreadText(firstTokens.map((one) => one.applyMs))])]),
];

/** `recover` next to a `status` of the same mesh. */
function recoverRows({ recover }: Measured): readonly string[] {
  if (recover.length === 0) return [];
  const statusMs = recover.map((one) => one.statusMs);
  const rowOf = (name: string, values: readonly number[]): string =>
    row([
      name,
      ...[values, statusMs].map(spreadText),
      `${(spreadOf(values).median / spreadOf(statusMs).median).toFixed(2)}x`,
    ]);
  return [
    row(['', 'meshwright', 'status', 'ratio']),
    rowOf(
      'recover, healthy',
      recover.map(({ healthyMs }) => healthyMs),
    ),
    rowOf(
      'recover, rank killed',
      recover.map(({ wholeMs }) => wholeMs),
    ),
    rowOf('  its own time', recover.map(ownMs)),
  ];
}

function gatewayRows({ gateway }: Measured): readonly string[] {
  if (gateway === undefined) return [];
  const { aloneMs, besideMs } = gateway.neighbors;
  return [
    row(['', 'beside neighbors', 'alone', 'ratio']),
    row([
      'gateway, longest wait',
      ...[besideMs, aloneMs].map((ms) => ms.toFixed(0)),
      `${(besideMs / aloneMs).toFixed(2)}x`,
    ]),
  ];
}

/** Times as a table of at most 80 columns: median and spread in milliseconds. */
export function timesText(measured: Measured): string {
  const { apply, startUp } = measured;
  const bare = startUp.map((round) => round.nodeMs);
  const versions = startUp.map((round) => round.versionMs);
  const validations = startUp.map((round) => round.validateMs);
  return [
    row(['ms, median (spread)', 'meshwright', 'floor: system ssh', 'ratio']),
    ...floorRows(measured, 'sshMs'),
    row(['', 'meshwright', 'ssh, our algorithms', 'ratio']),
    ...floorRows(measured, 'sameAlgorithmsMs'),
    ...(apply.length === 0 ? [] : [row(['', 'meshwright'])]),
    ...changeRows(measured),
    ...recoverRows(measured),
    ...gatewayRows(measured),
    row(['', 'meshwright', 'floor: node -e 0', 'ratio']),
    startUpRow('--version', versions, bare),
    startUpRow('validate', validations, bare),
  ].join('');
}

/** The limits, one per line; exceeded limits are marked. */
export const barsText = (bars: readonly Bar[]): string =>
  bars
    .map(({ name, value, limit, unit, isReached }) => {
      const digits = unit === 'MB' ? 0 : 3;
      const found = `${value.toFixed(digits)} ${unit}`.padStart(10);
      return `${name.padEnd(33)}${found}   at most ${`${limit.toFixed(2).replace(/0$/, '')} ${unit}`.padEnd(9)} ${isReached ? 'pass' : 'MISSED'}\n`;
    })
    .join('');
