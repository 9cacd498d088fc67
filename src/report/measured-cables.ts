import { escapeText } from '../diagnostics/escape.ts';
import { enoughSources } from '../engine/cables/cable-ratings.ts';
import type { CableVerdict, MeasuredCable, NewestMeasurement, TransportResult } from '../model/measured-cable.ts';
import { latencyText, rateText } from '../model/text/units.ts';
import { counted, fitLines, hang, headLines, type Page, type Tone } from './page.ts';

const verdicts: Readonly<Record<CableVerdict, { readonly words: string; readonly tone: Tone }>> = {
  good: { words: 'good', tone: 'good' },
  unrated: { words: 'unrated', tone: 'good' },
  slow: { words: 'slow', tone: 'bad' },
  'tcp-only': { words: 'TCP only', tone: 'bad' },
  dead: { words: 'dead', tone: 'bad' },
  unknown: { words: 'not measured', tone: 'warn' },
};

/** `studio-1:2 <-> studio-4:2`. */
const measuredName = ({ ends }: Pick<MeasuredCable, 'ends'>): string => ends.join(' <-> ');

function transportLines(name: string, result: TransportResult | undefined, failure: string | undefined, page: Page) {
  if (result === undefined) return hang(`  ${name}  `, escapeText(failure ?? 'not measured'), page.columns);
  const { medianNs, p99Ns, bytesPerSecond, lost, missing, wrong } = result;
  const [there = 0, back = 0] = bytesPerSecond;
  const flaws = [
    ...(lost + missing === 0 ? [] : [`${counted(lost + missing, 'message')} lost`]),
    ...(wrong === 0 ? [] : [`${counted(wrong, 'message')} with wrong bytes`]),
  ];
  const text = [
    `${latencyText(medianNs)} (99 % below ${latencyText(p99Ns)})`,
    `${rateText(there)} there`,
    `${rateText(back)} back`,
    ...flaws,
  ].join(', ');
  return hang(`  ${name}  `, text, page.columns);
}

/** One cable: its verdict, and the latency of one way and the rates of both transports. */
function measuredLines(cable: MeasuredCable, page: Page): readonly string[] {
  const { words, tone } = verdicts[cable.verdict];
  const { rdma, tcp, rdmaFailure, tcpFailure } = cable;
  const head = hang('', `${measuredName(cable)}: ${words}`, page.columns).map((line) => page.paint(tone, line));
  if (rdma === undefined && tcp === undefined && rdmaFailure === tcpFailure) {
    return [...head, ...hang('  ', escapeText(rdmaFailure ?? ''), page.columns)];
  }
  return [
    ...head,
    ...transportLines('RDMA', rdma, rdmaFailure, page),
    ...transportLines('TCP ', tcp, tcpFailure, page),
  ];
}

/** `25.5 µs, 8.05 GB/s, good (2026-11-27)`, with the lower of the two rates. */
export function measuredText({ at, cable: { rdma, verdict } }: NewestMeasurement): string {
  const figures = rdma === undefined ? [] : [latencyText(rdma.medianNs), rateText(Math.min(...rdma.bytesPerSecond))];
  return `${[...figures, verdicts[verdict].words].join(', ')} (${at.slice(0, 10)})`;
}

interface MeasuredRun {
  readonly measured: readonly MeasuredCable[];
  /** The number of declared cables. */
  readonly links: number;
  /** The time for each value. */
  readonly seconds: number;
  /** True for a table, if the page is wide enough. */
  readonly isTable: boolean;
}

const columns: readonly (readonly [title: string, cell: (cable: MeasuredCable) => string])[] = [
  ['RDMA', ({ rdma }) => timeCell(rdma?.medianNs)],
  ['99 %', ({ rdma }) => timeCell(rdma?.p99Ns)],
  ['rate', ({ rdma }) => rateCell(rdma)],
  ['TCP', ({ tcp }) => timeCell(tcp?.medianNs)],
  ['rate', ({ tcp }) => rateCell(tcp)],
];

const timeCell = (ns: number | undefined): string => (ns === undefined ? '-' : latencyText(ns));

/** The slower of the two directions. */
const rateCell = (result: TransportResult | undefined): string =>
  result === undefined ? '-' : rateText(Math.min(...result.bytesPerSecond));

/** One line per cable, with the slower of its two directions; empty if the page is too narrow. */
function tableLines(measured: readonly MeasuredCable[], page: Page): readonly string[] {
  const rows = [
    ['', ...columns.map(([title]) => title)],
    ...measured.map((cable) => [measuredName(cable), ...columns.map(([, cell]) => cell(cable))]),
  ];
  const widths = ['', ...columns].map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const lines = rows.map(([name = '', ...cells]) =>
    [name.padEnd(widths[0] ?? 0), ...cells.map((cell, at) => cell.padStart(widths[at + 1] ?? 0))].join('  '),
  );
  const [head = '', ...rest] = lines;
  return head.length > page.columns ? [] : [page.paint('strong', head), ...rest];
}

/** `cables --measure`: every cable, and what the verdicts mean. */
export function measuredBlocks(
  name: string,
  { measured, links, seconds, isTable }: MeasuredRun,
  page: Page,
): readonly (readonly string[])[] {
  const done = measured.filter(({ verdict }) => verdict !== 'unknown').length;
  const about = `${done} of ${counted(links, 'cable')} measured, ${seconds} s per value`;
  const table = isTable ? tableLines(measured, page) : [];
  const isUnrated = measured.some(({ verdict }) => verdict === 'unrated');
  const caution = page.isSimulated ? ' A simulated run measures this computer.' : '';
  return [
    headLines(name, about, page),
    ...(table.length > 0 ? [table] : measured.map((cable) => measuredLines(cable, page))),
    fitLines(
      `Latencies are of one way.${table.length > 0 ? ' RDMA and TCP: the median; 99 %: the limit for that share of RDMA messages. Rates are those of the slower direction.' : ''}${
        isUnrated && table.length === 0
          ? ` unrated: about as fast as the other cables, but fewer than ${enoughSources} measurements of such Macs are published.`
          : ''
      }${caution}`,
      page.columns,
    ),
  ];
}
