import { escapeText } from '../../diagnostics/escape.ts';
import type { BenchLevel, PublishedSpeed } from '../../model/bench.ts';
import { counted } from '../counted.ts';
import { headLines } from '../head-lines.ts';
import { fitLines, hang } from '../layout.ts';
import { nodeSpan } from '../nodes-text.ts';
import { type Page, type Paint, pageOf } from '../page.ts';

/** What `bench` shows, and on what. */
export interface BenchTextInput {
  readonly placement: string;
  readonly model: string;
  readonly runtime: string;
  readonly transport: string;
  readonly nodes: readonly string[];
  readonly words: number;
  readonly maxTokens: number;
  readonly runs: number;
  readonly levels: readonly BenchLevel[];
  /** False where the runtime does not count: then a piece of text stands for a token. */
  readonly isCounted: boolean;
  readonly published: readonly PublishedSpeed[];
  readonly isSimulated: boolean;
  readonly columns: number;
  readonly unicode: boolean;
  readonly paint?: Paint;
}

const margin = '  ';
const gap = '  ';
const longestBar = 20;

/** The table of a measured placement, its plot, and what others have published beside it. */
export function benchText(input: BenchTextInput): string {
  const page = pageOf(input);
  const { placement, model, runtime, transport, nodes, isSimulated, levels, isCounted } = input;
  const about = `${model} with ${runtime} on ${nodeSpan(nodes)}, ${transport}`;
  const head = headLines({ name: placement, about, isSimulated }, page);
  // The reason follows; what explains a table would only stand between.
  if (levels.length === 0) return `${[...head, '', 'No request was answered, so nothing was measured.'].join('\n')}\n`;
  const blocks = [
    head,
    tableLines(levels, page),
    [
      ...fitLines(askedText(input), page.columns),
      ...(isCounted ? [] : fitLines('The runtime counts no tokens: pieces of text were counted.', page.columns)),
      ...wattLines(levels, page),
    ],
    publishedLines(input, page),
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

const askedText = ({ words, maxTokens, runs }: BenchTextInput): string =>
  `Medians of ${counted(runs, 'run')}; questions of about ${words} words, answers of at most ${counted(maxTokens, 'token')}. ` +
  'Speeds are tokens per second; "together" is that of all requests at once.';

function wattLines(levels: readonly BenchLevel[], page: Page): readonly string[] {
  if (levels.every(({ watts }) => watts === undefined)) return [];
  return fitLines('Watts are those of CPU and GPU of all its Macs, not of the plug.', page.columns);
}

/** A number in as many digits as mean something; `-` where nobody can tell. */
function digits(value: number | undefined): string {
  if (value === undefined) return '-';
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}

function timeText(ms: number | undefined): string {
  if (ms === undefined) return '-';
  return ms < 1_000 ? `${ms.toFixed(0)} ms` : `${digits(ms / 1_000)} s`;
}

interface Column {
  readonly title: string;
  readonly cell: (level: BenchLevel) => string;
}

const columnsFor = (levels: readonly BenchLevel[]): readonly Column[] => [
  { title: 'at once', cell: ({ requests }) => `${requests}` },
  { title: 'first token', cell: ({ firstTokenMs }) => timeText(firstTokenMs) },
  { title: 'prompt', cell: ({ promptSpeed }) => digits(promptSpeed) },
  { title: 'generation', cell: ({ generationSpeed }) => digits(generationSpeed) },
  { title: 'together', cell: ({ totalSpeed }) => digits(totalSpeed) },
  ...(levels.every(({ watts }) => watts === undefined)
    ? []
    : [
        { title: 'W', cell: ({ watts }: BenchLevel) => digits(watts) },
        { title: 'per J', cell: ({ tokensPerJoule }: BenchLevel) => digits(tokensPerJoule) },
      ]),
  ...(levels.every(({ failed }) => failed === 0)
    ? []
    : [{ title: 'failed', cell: (one: BenchLevel) => `${one.failed}` }]),
];

/** One line per level with a bar for its speed, or where the page is too narrow a few words each. */
function tableLines(levels: readonly BenchLevel[], page: Page): readonly string[] {
  const columns = columnsFor(levels);
  const rows = [columns.map(({ title }) => title), ...levels.map((level) => columns.map(({ cell }) => cell(level)))];
  const widths = columns.map((_column, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const lines = rows.map((row) => margin + row.map((cell, at) => cell.padStart(widths[at] ?? 0)).join(gap));
  const room = Math.min(longestBar, page.columns - (lines[0]?.length ?? 0) - gap.length);
  if (room < -gap.length) {
    return levels.flatMap((level) =>
      fitLines(columns.map(({ title, cell }) => `${title} ${cell(level)}`).join(', '), page.columns),
    );
  }
  const fastest = Math.max(0, ...levels.map(({ totalSpeed }) => totalSpeed ?? 0));
  return lines.map((line, at) => {
    const speed = levels[at - 1]?.totalSpeed;
    return at === 0 ? page.paint('strong', line) : `${line}${barText(speed, { fastest, room })}`;
  });
}

/** At least one sign for any speed at all. Plain signs on every terminal: the bar is a picture, no measure. */
function barText(
  speed: number | undefined,
  { fastest, room }: { readonly fastest: number; readonly room: number },
): string {
  if (speed === undefined || room < 1) return '';
  return gap + '#'.repeat(Math.max(1, Math.round((speed / fastest) * room)));
}

function publishedLines({ published, nodes, isSimulated }: BenchTextInput, page: Page): readonly string[] {
  const macs = counted(nodes.length, 'Mac');
  if (published.length === 0) {
    return fitLines(`No published speed of this model on ${macs} is known to meshwright.`, page.columns);
  }
  const caution = isSimulated ? 'of real Macs; simulated ones measure this computer' : 'prompts and versions differ';
  return [
    ...fitLines(`Published for this model on ${macs} (${caution}):`, page.columns),
    ...published.flatMap((one) => [
      ...hang(`${margin}${digits(one.generationSpeed)} tok/s   `, escapeText(publishedText(one)), page.columns),
      // Never broken: it is for copying.
      `${margin.repeat(2)}${one.source}`,
    ]),
  ];
}

const publishedText = ({ model, runtime, transport, hardware, promptSpeed }: PublishedSpeed): string =>
  [
    model,
    runtime,
    transport,
    hardware,
    ...(promptSpeed === undefined ? [] : [`prompt ${digits(promptSpeed)} tok/s`]),
  ].join(', ');
