import { columnsOf } from '../../diagnostics/cells.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { NodeSurvey } from '../../engine/diagnose/survey.ts';
import { memoryText } from '../../model/text/units.ts';
import type { BridgeState } from '../../rack/bridge/bridges.ts';
import type { ReceptacleSight } from '../../rack/cabling/receptacle-sight.ts';
import type { NodeRdma } from '../../rack/rdma/rdma-node.ts';
import { reasonText } from '../nodes-text.ts';
import { clip, fitLines, flow, type Page, padEnd, type Tone } from '../page.ts';

interface Word {
  readonly text: string;
  readonly tone?: Tone;
}

const rdmaWords: Readonly<Record<NodeRdma, Word>> = {
  ready: { text: 'on' },
  disabled: { text: 'off', tone: 'warn' },
  'restart-pending': { text: 'restart', tone: 'warn' },
  'no-device': { text: 'no device', tone: 'warn' },
  'macos-too-old': { text: 'old macOS', tone: 'warn' },
  'no-thunderbolt-5': { text: 'never', tone: 'warn' },
  unknown: { text: '?', tone: 'warn' },
};

const bridgeWords: Readonly<Record<BridgeState, Word>> = {
  none: { text: 'none' },
  active: { text: 'active', tone: 'warn' },
  'comes-back': { text: 'returns', tone: 'warn' },
  unknown: { text: '?', tone: 'warn' },
};

const titles = ['node', 'macOS', 'memory', 'RDMA', 'bridge'] as const;
const receptaclesTitle = 'receptacles ';
const gap = '   ';
const margin = '  ';
/** More receptacles than this no Mac has; a node that claims more is not given the whole page. */
const mostReceptacles = 16;
const longestVersion = 16;

const cellsOf = (node: NodeSurvey): readonly Word[] => [
  { text: node.name },
  { text: node.macos === undefined ? '?' : clip(escapeText(node.macos), longestVersion) },
  { text: node.memoryBytes === undefined ? '?' : memoryText(node.memoryBytes) },
  rdmaWords[node.rdma],
  bridgeWords[node.bridge],
];

function receptacleNumbers(nodes: readonly NodeSurvey[]): readonly number[] {
  const all = nodes.flatMap((node) => node.receptacles?.map((one) => one.receptacle) ?? []);
  return [...new Set(all)].toSorted((a, b) => a - b).slice(0, mostReceptacles);
}

/** The sight at each number; undefined where the Mac has no such receptacle. */
function sightsOf(node: NodeSurvey, numbers: readonly number[]): readonly (ReceptacleSight | undefined)[] {
  return numbers.map((number) =>
    node.receptacles === undefined ? 'unknown' : node.receptacles.find((one) => one.receptacle === number)?.sight,
  );
}

function marksText(node: NodeSurvey, numbers: readonly number[], page: Page): string {
  return sightsOf(node, numbers)
    .map((sight, index) => {
      const blanks = ' '.repeat(String(numbers[index]).length - 1);
      return `${blanks}${sight === undefined ? ' ' : markText(sight, page)}`;
    })
    .join(' ');
}

const paintWord = ({ text, tone }: Word, width: number, page: Page): string => {
  const blanks = padEnd(text, width).slice(text.length);
  return `${tone === undefined ? text : page.paint(tone, text)}${blanks}`;
};

interface Grid {
  readonly widths: readonly number[];
  readonly numbers: readonly number[];
  /** Stands before the numbers of the receptacles, where there is room for it. */
  readonly title: string;
  readonly page: Page;
}

function row(node: NodeSurvey, { widths, numbers, title, page }: Grid): string {
  const marks = `${' '.repeat(title.length)}${marksText(node, numbers, page)}`;
  const [name = '', ...others] = cellsOf(node).map((word, index) => paintWord(word, widths[index] ?? 0, page));
  if (node.isReached) return `${margin}${[name, ...others, marks].join(gap)}`;
  const width = widths.slice(1).reduce((sum, one) => sum + one + gap.length, title.length - gap.length);
  const reason = clip(reasonText(node), width);
  return `${margin}${[name, paintWord({ text: reason, tone: 'bad' }, width, page), marksText(node, numbers, page)].join(gap)}`;
}

function tableLines(nodes: readonly NodeSurvey[], grid: Grid): readonly string[] {
  const { widths, numbers, title, page } = grid;
  const head = titles.map((text, index) => padEnd(text, widths[index] ?? 0));
  return [
    `${margin}${page.paint('strong', [...head, `${title}${numbers.join(' ')}`].join(gap).trimEnd())}`,
    ...nodes.map((node) => row(node, grid).trimEnd()),
  ];
}

/** The same for a page that is too narrow for a table: a few lines per node. */
function stackedLines(nodes: readonly NodeSurvey[], numbers: readonly number[], page: Page): readonly string[] {
  const indent = `${margin}${margin}`;
  const room = page.columns - indent.length;
  return nodes.flatMap((node) => {
    const [, ...cells] = cellsOf(node).map(({ text }, index) =>
      titles[index] === 'memory' ? text : `${titles[index]} ${text}`,
    );
    const told = node.isReached ? flow(cells, gap, room) : fitLines(reasonText(node), room);
    const marks = numbers.length === 0 ? [] : [numbers.join(' '), marksText(node, numbers, page)];
    return [
      ...fitLines(node.name, page.columns - margin.length).map((line) => `${margin}${page.paint('strong', line)}`),
      ...[...told, ...marks].map((line) => `${indent}${line}`.trimEnd()),
    ];
  });
}

/** What the signs mean, for those that occur, on as few lines as they need. */
export function legendLines(nodes: readonly NodeSurvey[], page: Page): readonly string[] {
  const numbers = receptacleNumbers(nodes);
  const sights = nodes.flatMap((node) => sightsOf(node, numbers)).filter((sight) => sight !== undefined);
  const lines = flow(legendTexts(new Set(sights), page), gap, page.columns - margin.length);
  return lines.map((line) => page.paint('dim', `${margin}${line}`));
}

function columnWidths(nodes: readonly NodeSurvey[]): readonly number[] {
  const rows = nodes.filter((node) => node.isReached).map(cellsOf);
  const names = nodes.map((node) => node.name.length);
  return titles.map((title, index) => {
    const widths = index === 0 ? names : rows.map((cells) => columnsOf(cells[index]?.text ?? ''));
    return Math.max(title.length, ...widths);
  });
}

/** One line per node: macOS, memory, RDMA, bridge and a sign for each receptacle; stacked where a table has no room. */
export function nodeTable(nodes: readonly NodeSurvey[], page: Page): readonly string[] {
  const numbers = receptacleNumbers(nodes);
  const widths = columnWidths(nodes);
  const sum = [...widths, numbers.join(' ').length].reduce(
    (all, one) => all + one + gap.length,
    margin.length - gap.length,
  );
  if (nodes.length === 0 || sum > page.columns) return stackedLines(nodes, numbers, page);
  const title = numbers.length > 0 && sum + receptaclesTitle.length <= page.columns ? receptaclesTitle : '';
  return tableLines(nodes, { widths, numbers, title, page });
}

interface Mark {
  readonly sign: string;
  readonly tone: Tone;
  readonly means: string;
}

const marks: Readonly<Record<ReceptacleSight, Mark>> = {
  'as-declared': { sign: '=', tone: 'good', means: 'as declared' },
  slow: { sign: '~', tone: 'warn', means: 'as declared, but slow' },
  'through-hub': { sign: 'h', tone: 'warn', means: 'through a hub' },
  'one-sided': { sign: '/', tone: 'warn', means: 'seen from one end only' },
  wrong: { sign: 'x', tone: 'bad', means: 'wrong' },
  nothing: { sign: 'o', tone: 'bad', means: 'declared, nothing plugged in' },
  undeclared: { sign: '+', tone: 'warn', means: 'cable not in the file' },
  foreign: { sign: 'f', tone: 'warn', means: 'Mac not in the file' },
  device: { sign: 'd', tone: 'strong', means: 'device' },
  silent: { sign: '!', tone: 'warn', means: 'no answer' },
  empty: { sign: '.', tone: 'dim', means: 'empty' },
  unknown: { sign: '?', tone: 'warn', means: 'unknown' },
};

const order = Object.keys(marks).filter((key): key is ReceptacleSight => key in marks);

/** The bare sign, one column wide. */
export const signOf = (sight: ReceptacleSight, page: Page): string =>
  page.unicode && sight === 'empty' ? '·' : marks[sight].sign;

/** The sign of a sight, set off by its tone as well. */
const markText = (sight: ReceptacleSight, page: Page): string => page.paint(marks[sight].tone, signOf(sight, page));

/** `= as declared`, one for each sight that occurs, always in the same order. */
const legendTexts = (sights: ReadonlySet<ReceptacleSight>, page: Page): readonly string[] =>
  order.filter((sight) => sights.has(sight)).map((sight) => `${signOf(sight, page)} ${marks[sight].means}`);
