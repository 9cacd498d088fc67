import { escapeText } from '../diagnostics/escape.ts';
import type { BenchDocument, BenchLevel, BenchPublished } from '../model/documents.generated.ts';
import { median } from '../model/lists.ts';
import { digitsText } from '../model/text/units.ts';
import { nodesText } from './nodes-text.ts';
import { counted, fitLines, hang, headLines, type Page, pageText } from './page.ts';

/** One answer; all its times are from one clock. */
export interface BenchAnswer {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly tokens: number;
  readonly firstTokenMs?: number;
  readonly promptSpeed?: number;
  readonly generationSpeed?: number;
}

/** Requests sent in parallel; `undefined` represents a failed request. */
export type BenchRound = readonly (BenchAnswer | undefined)[];

/** Summarizes rounds with the same number of requests. `watts` is the total power of all Macs meanwhile. */
export function benchLevel(requests: number, rounds: readonly BenchRound[], watts: number | undefined): BenchLevel {
  const all = rounds.flat();
  const answers = all.flatMap((one) => one ?? []);
  const middle = (key: 'firstTokenMs' | 'promptSpeed' | 'generationSpeed'): number | undefined =>
    median(answers.flatMap((one) => one[key] ?? []));
  // A partly failed round does not count, because fewer requests shared the mesh.
  const totalSpeed = median(rounds.flatMap((round) => totalOf(round) ?? []));
  return {
    requests,
    answered: answers.length,
    failed: all.length - answers.length,
    firstTokenMs: middle('firstTokenMs'),
    promptSpeed: middle('promptSpeed'),
    generationSpeed: middle('generationSpeed'),
    totalSpeed,
    watts,
    tokensPerJoule: totalSpeed === undefined || !watts ? undefined : totalSpeed / watts,
  };
}

function totalOf(round: BenchRound): number | undefined {
  const answers = round.flatMap((one) => one ?? []);
  if (answers.length === 0 || answers.length < round.length) return undefined;
  const ms = Math.max(...answers.map((one) => one.endedAtMs)) - Math.min(...answers.map((one) => one.startedAtMs));
  const tokens = answers.reduce((sum, one) => sum + one.tokens, 0);
  return ms > 0 ? (tokens * 1_000) / ms : undefined;
}

export type BenchSettings = Pick<BenchDocument, 'requests' | 'runs'> & BenchDocument['question'];

type Benched = Pick<BenchDocument, 'placement' | 'model' | 'runtime' | 'transport' | 'nodes'>;

export interface BenchTextInput extends Benched, Omit<BenchSettings, 'requests'> {
  readonly levels: readonly BenchLevel[];
  /** False if the runtime does not count tokens; each piece of text then counts as one token. */
  readonly isCounted: boolean;
  readonly published: readonly BenchPublished[];
}

const margin = '  ';
const gap = '  ';
const longestBar = 20;

export function benchText(input: BenchTextInput, page: Page): string {
  const { placement, model, runtime, transport, nodes, levels, isCounted } = input;
  const about = `${model} with ${runtime} on ${nodesText(nodes)}, ${transport}`;
  const head = headLines(placement, about, page);
  // The caller then prints the reason. Without a table, its explanation is not needed.
  if (levels.length === 0) return `${[...head, '', 'No request was answered, so nothing was measured.'].join('\n')}\n`;
  return pageText([
    head,
    tableLines(levels, page),
    [
      ...fitLines(askedText(input), page.columns),
      ...(isCounted
        ? []
        : fitLines('The runtime does not count tokens, so pieces of text were counted.', page.columns)),
      ...wattLines(levels, page),
    ],
    publishedLines(input, page),
  ]);
}

const askedText = ({ words, maxTokens, runs }: BenchTextInput): string =>
  `Medians of ${counted(runs, 'run')}. Questions have about ${words} words, answers at most ${counted(maxTokens, 'token')}. ` +
  'Speeds are in tokens/s; "total" is the speed of all parallel requests together.';

function wattLines(levels: readonly BenchLevel[], page: Page): readonly string[] {
  if (levels.every(({ watts }) => watts === undefined)) return [];
  return fitLines('Watts are the CPU and GPU power of all its Macs, not the power at the plug.', page.columns);
}

const digits = (value: number | undefined): string => (value === undefined ? '-' : digitsText(value));

function timeText(ms: number | undefined): string {
  if (ms === undefined) return '-';
  return ms < 1_000 ? `${ms.toFixed(0)} ms` : `${digits(ms / 1_000)} s`;
}

interface Column {
  readonly title: string;
  readonly cell: (level: BenchLevel) => string;
}

const columnsFor = (levels: readonly BenchLevel[]): readonly Column[] => [
  { title: 'parallel', cell: ({ requests }) => `${requests}` },
  { title: 'first token', cell: ({ firstTokenMs }) => timeText(firstTokenMs) },
  { title: 'prompt', cell: ({ promptSpeed }) => digits(promptSpeed) },
  { title: 'generation', cell: ({ generationSpeed }) => digits(generationSpeed) },
  { title: 'total', cell: ({ totalSpeed }) => digits(totalSpeed) },
  ...(levels.every(({ watts }) => watts === undefined)
    ? []
    : [
        { title: 'W', cell: ({ watts }: BenchLevel) => digits(watts) },
        { title: 'tok/J', cell: ({ tokensPerJoule }: BenchLevel) => digits(tokensPerJoule) },
      ]),
  ...(levels.every(({ failed }) => failed === 0)
    ? []
    : [{ title: 'failed', cell: (one: BenchLevel) => `${one.failed}` }]),
];

/** One line per level with a bar for its speed; plain text on a narrow page. */
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

/** Any speed gets at least one sign. Uses ASCII on every terminal, because the bar is only an illustration. */
function barText(
  speed: number | undefined,
  { fastest, room }: { readonly fastest: number; readonly room: number },
): string {
  if (speed === undefined || room < 1) return '';
  return gap + '#'.repeat(Math.max(1, Math.round((speed / fastest) * room)));
}

function publishedLines({ published, nodes }: BenchTextInput, page: Page): readonly string[] {
  const macs = counted(nodes.length, 'Mac');
  if (published.length === 0) {
    return fitLines(`meshwright knows no published speed for this model on ${macs}.`, page.columns);
  }
  const caution = page.isSimulated
    ? 'for real Macs; a simulated run measures this computer'
    : 'prompts and versions differ';
  return [
    ...fitLines(`Published for this model on ${macs} (${caution}):`, page.columns),
    ...published.flatMap((one) => [
      ...hang(`${margin}${digits(one.generationSpeed)} tok/s   `, escapeText(publishedText(one)), page.columns),
      // Never broken, so that it can be copied.
      `${margin.repeat(2)}${one.source}`,
    ]),
  ];
}

const publishedText = ({ model, runtime, transport, hardware, promptSpeed }: BenchPublished): string =>
  [
    model,
    runtime,
    transport,
    hardware,
    ...(promptSpeed === undefined ? [] : [`prompt ${digits(promptSpeed)} tok/s`]),
  ].join(', ');
