import { columnsOf, firmSpace } from '../../diagnostics/cells.ts';
import type { NodeForecast } from '../../engine/plan/forecast.ts';
import type { MeasuredRates, TransferSource } from '../../engine/plan/transfers.ts';
import { groupBy } from '../../model/lists.ts';
import { everyNodeText } from '../../model/node.ts';
import { diskText, durationText } from '../../model/text/units.ts';
import { hang, type Page, padEnd } from '../page.ts';

const totalOf = (
  all: readonly NodeForecast[],
  key: keyof NodeForecast & (`${string}Bytes` | 'repairedFiles'),
): number => all.reduce((total, one) => total + (one[key] ?? 0), 0);

const amount = (bytes: number, words: string): readonly string[] =>
  bytes === 0 ? [] : [`${diskText(bytes)} ${words}`];

/** The sources of these nodes' bytes, each with its total. */
const sourceTexts = (all: readonly NodeForecast[]): readonly string[] => [
  ...amount(totalOf(all, 'uplinkBytes'), 'over the uplink'),
  ...amount(totalOf(all, 'lanBytes'), 'over the LAN'),
  ...amount(totalOf(all, 'controllerBytes'), 'from this computer'),
  ...[
    ...amount(totalOf(all, 'cableBytes'), 'from other Macs over the cables'),
    ...amount(totalOf(all, 'sshBytes'), 'from other Macs over SSH'),
  ].map((text) => (totalOf(all, 'repairedFiles') > 0 ? `at least ${text}` : text)),
  ...amount(totalOf(all, 'copiedBytes'), 'from its own disk'),
  ...amount(totalOf(all, 'adoptedBytes'), 'from copies already there'),
];

/** Everything except the free space, which differs a little on every node. */
function nodeText(one: NodeForecast): string {
  const { presentBytes, isPartlyStaged, neededBytes } = one;
  const there = [
    ...amount(presentBytes, 'of models already there'),
    ...(isPartlyStaged ? ['part of it already there'] : []),
  ];
  const room = neededBytes === 0 ? [] : [`needs ${diskText(neededBytes)} of disk`];
  return [...sourceTexts([one]), ...there, ...room].join(', ');
}

/** `(6.9 TB free)`; for several nodes, the least of them. */
function freeText(all: readonly NodeForecast[]): string {
  if (all.every(({ neededBytes }) => neededBytes === 0)) return '';
  const free = all.map(({ freeBytes }) => freeBytes ?? Number.NaN);
  const least = Math.min(...free);
  if (Number.isNaN(least)) return ` ${'(free space unknown)'.replaceAll(' ', firmSpace)}`;
  const isSame = new Set(free.map(diskText)).size === 1;
  return ` ${`(${isSame ? '' : 'at least '}${diskText(least)} free)`.replaceAll(' ', firmSpace)}`;
}

/** When the downloads may begin and must pause. */
function hoursText(all: readonly NodeForecast[]): readonly string[] {
  const hours = all.find(({ uplinkBytes, lanBytes }) => uplinkBytes + lanBytes > 0)?.hours;
  return hours === undefined
    ? []
    : [`downloads only from ${hours.begin} to ${hours.end}, by each Mac's own clock (downloads.window)`];
}

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/** How many days a download takes at least, if its hours are too few for one. */
function daysText(ms: number, { begin, end }: NonNullable<NodeForecast['hours']>): string {
  const minutes = (minuteOf(end) - minuteOf(begin) + 1_440) % 1_440;
  const days = Math.ceil(ms / (minutes * 60_000));
  return days < 2 ? '' : `, on at least ${days} days`;
}

/** Shorter transfers need no forecast. */
const worthATimeMs = 60_000;

interface Rate {
  readonly bytesPerMs: number;
  readonly text: string;
}

const oneGigabit: Rate = { bytesPerMs: 125_000, text: '1 Gbit/s' };
/** The lowest rate that was reported for TCP over one Thunderbolt 5 cable between Macs: 16 Gbit/s. */
const oneCable: Rate = { bytesPerMs: 2_000_000, text: '16 Gbit/s' };

function bitsText(bytesPerMs: number): string {
  const [amount, unit] = bytesPerMs < 125_000 ? [bytesPerMs / 125, 'Mbit/s'] : [bytesPerMs / 125_000, 'Gbit/s'];
  return `${Number(amount.toPrecision(3))} ${unit}`;
}

/** The rate of each cable, as measured on its own or as assumed. */
function cableRate({ oneCable: measured }: MeasuredRates): Rate {
  if (measured === undefined) return oneCable;
  const bytesPerMs = measured.bytesPerSecond / 1_000;
  return { bytesPerMs, text: `${bitsText(bytesPerMs)}, as on ${measured.at.slice(0, 10)}` };
}

/** Which connection decides how long the transfers take, at the rate that an earlier run measured or at an assumed one. */
function timeText(all: readonly NodeForecast[]): readonly string[] {
  const [{ maxBytesPerSecond = Number.POSITIVE_INFINITY, hours, rates = {} } = {}] = all;
  const limit = maxBytesPerSecond / 1_000;
  const time = (from: TransferSource, words: string, bytes: number, assumed: Rate, isDownload = false) => {
    const { bytesPerSecond, at = '' } = rates[from] ?? {};
    const measured = bytesPerSecond === undefined ? undefined : bytesPerSecond / 1_000;
    const isLimited = isDownload && limit < (measured ?? assumed.bytesPerMs);
    const bytesPerMs = isLimited ? limit : (measured ?? assumed.bytesPerMs);
    const rateText = measured === undefined ? assumed.text : `${bitsText(measured)}, as on ${at.slice(0, 10)}`;
    const text = `${words} ${isLimited ? `${limit / 125} Mbit/s (downloads.maxRate)` : rateText}`;
    return { from, isDownload, isMeasured: measured !== undefined && !isLimited, ms: bytes / bytesPerMs, text };
  };
  const cableBytes = Math.max(...all.map((one) => one.cableBytes));
  const sshBytes = Math.max(...all.map((one) => one.sshBytes ?? 0));
  const cables = rates.cables === undefined ? 'each cable brings' : "each Mac's cables bring";
  const [slowest] = [
    time('uplink', 'the uplink brings', totalOf(all, 'uplinkBytes'), oneGigabit, true),
    time('lan', 'the LAN brings', totalOf(all, 'lanBytes'), oneGigabit, true),
    time('controller', "this computer's connection brings", totalOf(all, 'controllerBytes'), oneGigabit),
    // Every Mac has its own cables.
    time('cables', cables, cableBytes, cableRate(rates)),
    time('ssh', 'SSH from Mac to Mac brings', sshBytes, oneGigabit),
  ].toSorted((one, other) => other.ms - one.ms);
  if (slowest === undefined || slowest.ms < worthATimeMs) return [];
  const { from, isDownload, isMeasured, ms, text } = slowest;
  // A Mac with several cables gets bytes over all of them.
  const isLess = (from === 'cables' && !isMeasured) || all.some(({ isPartlyStaged }) => isPartlyStaged);
  const bound = isLess ? 'at most' : isMeasured ? 'about' : 'at least';
  const days = hours !== undefined && isDownload && !isLess ? daysText(ms, hours) : '';
  return [`${bound} ${durationText(ms)} if ${text}${days}`];
}

/** The bytes that a plan brings to each node, with the disk space that they need, their total, and the time. */
export function transferLines(all: readonly NodeForecast[], page: Page): readonly string[] {
  if (all.length === 0) return [];
  const rows = [...groupBy(all, nodeText)].map(([text, same]) => [
    everyNodeText(same.map(({ node }) => node)),
    `${text}${freeText(same)}`,
  ]);
  const times = [...hoursText(all).map((text) => ['hours', text]), ...timeText(all).map((text) => ['time', text])];
  const shown = [...rows, ...(all.length === 1 ? [] : [['total', sourceTexts(all).join(', ')]]), ...times];
  const width = Math.max(...shown.map(([name = '']) => columnsOf(name)));
  const lines = shown.flatMap(([name = '', text = '']) => hang(`  ${padEnd(name, width)}  `, text, page.columns));
  return [page.paint('strong', 'Transfers'), ...lines];
}

/** The same for programs, by node name. */
export const transfersJson = (all: readonly NodeForecast[]) =>
  Object.fromEntries(
    all.map(({ node, isPartlyStaged, rates: _rates, ...bytes }) => [node, { ...bytes, partlyStaged: isPartlyStaged }]),
  );
