import { clip, columnsOf } from '../../diagnostics/cells.ts';
import { countText } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { type FleetSurvey, type NodeSurvey, surveyFleet } from '../../engine/diagnose/survey.ts';
import { tally } from '../../model/lists.ts';
import { linkEndText } from '../../model/node.ts';
import { upperFirst } from '../../model/text/prose.ts';
import { bytesText, layoutText, memoryText, speedText } from '../../model/text/units.ts';
import type { BridgeState } from '../../rack/bridge/reading.ts';
import type { ReceptacleSight } from '../../rack/cabling/receptacle-reading.ts';
import {
  type HeldMemory,
  isAsPredicted,
  isRdmaUnseen,
  type PlacementSurvey,
} from '../../rack/placement/check/placement-survey.ts';
import type { MeshState } from '../../rack/placement/state/mesh-reading.ts';
import type { NodeRdma } from '../../rack/rdma/receptacle-reading.ts';
import { findingLines, mergeFindings } from '../findings.ts';
import { nodesText, reasonText } from '../nodes-text.ts';
import {
  counted,
  fitLines,
  flow,
  hang,
  headLines,
  type Page,
  padEnd,
  pageText,
  sideBySide,
  type Tone,
} from '../page.ts';
import { budgetLines } from '../plan/memory-lines.ts';
import { pastText } from '../recover-text.ts';
import { clientLines, type StatusInput } from './status-json.ts';

/** The counts in the file: `4 nodes`, `6 links`, `1 placement`; no placements if there are none. */
const sizes = ({ desired, placements }: StatusInput): readonly string[] => [
  counted(desired.nodes.length, 'node'),
  counted(desired.thunderbolt.links.length, 'link'),
  ...(placements.length === 0 ? [] : [counted(placements.length, 'placement')]),
];

const unjudgedText = (links: number, placements: number): string =>
  [links > 0 && counted(links, 'link'), placements > 0 && counted(placements, 'placement')]
    .filter(Boolean)
    .join(' and ');

function verdictText(input: StatusInput, { nodes, links, notAsked }: FleetSurvey): string {
  const { desired, observation } = input;
  // Merged findings count once, so that the number matches the blocks below.
  const findings = mergeFindings(input.findings);
  const isBroken = (name: string): boolean => (observation.failures[name]?.length ?? 0) > 0;
  const unreached = nodes.filter((node) => !node.isReached || isBroken(node.name)).length;
  const isBad = findings.some((one) => one.severity !== 'notice');
  const scope = notAsked.length > 0 ? `the ${counted(nodes.length, 'node')} observed` : sizes(input).join(', ');
  const notices = findings.length === 0 ? '' : ` (${countText(findings)})`;
  if (!isBad && unreached === 0) {
    const others = input.placements.filter(({ standing }) => standing === 'differs').map(({ name }) => name);
    const but = others.length === 0 ? '' : ` except ${others.join(', ')}`;
    const unseen = input.placements.filter(isRdmaUnseen).map(({ name }) => name);
    if (unseen.length === 0) return `Everything matches the file${but}: ${scope}${notices}.`;
    const use = unseen.length === 1 ? 'uses' : 'use';
    return `Everything observed matches the file${but}: ${scope}${notices}. Not observed: whether ${unseen.join(', ')} ${use} RDMA.`;
  }
  const unjudged = links.filter((link) => link.judgement === 'unknown').length;
  const unknown = input.placements.filter(({ standing }) => standing === 'unknown').length;
  const missed = [
    ...(unreached === 0 ? [] : [`${unreached} of ${counted(desired.nodes.length, 'node')} could not be observed`]),
    ...(unjudged + unknown === 0 ? [] : [`${unjudgedText(unjudged, unknown)} could not be checked`]),
  ];
  return `${upperFirst(countText(findings))}.${missed.length === 0 ? '' : ` ${missed.join(' and ')}.`}`;
}

/** The rows are redrawn in place, so they must all fit the terminal. */
const mostSeenRows = 16;

/** The Macs observed so far, as rows of the table in the final {@link statusText}. */
export const seenLines = (
  { desired, observation }: Pick<StatusInput, 'desired' | 'observation'>,
  page: Page,
): readonly string[] => nodeTable(surveyFleet(desired, observation).nodes, page).slice(0, mostSeenRows + 1);

/**
 * The rack on one page: the verdict, one line per placement, one line per node with a sign for each receptacle, the
 * cables seen, and the findings with their hints. Text from nodes is escaped; ends with a line break.
 */
export function statusText(input: StatusInput, page: Page): string {
  const survey = surveyFleet(input.desired, input.observation);
  const notAsked = survey.notAsked.length === 0 ? [] : [`Not observed: ${nodesText(survey.notAsked)}.`];
  const said = [verdictText(input, survey), ...notAsked];
  return pageText([
    headLines(input.desired.name, sizes(input).join(', '), page),
    said.flatMap((text) => fitLines(text, page.columns - 2)).map((line) => `  ${line}`),
    [
      ...placementLines(input.placements, page),
      ...clientLines(input.clients ?? [], page),
      ...(input.recoveries ?? []).flatMap((one) => hang(margin, pastText(one), page.columns)),
      ...budgetLines(input.budgets ?? [], page),
    ],
    [...nodeTable(survey.nodes, page), ...legendLines(survey.nodes, page)],
    cableLines(survey, page),
    ...mergeFindings(input.findings).map((finding) => findingLines(finding, page)),
  ]);
}

/** The most common cable speed, which is shown only in the title. */
function usualSpeed({ cables }: FleetSurvey): number | undefined {
  const speeds = cables.flatMap(({ bitsPerSecond }) => bitsPerSecond ?? []);
  return tally(speeds).toSorted(([a, countOfA], [b, countOfB]) => countOfB - countOfA || b - a)[0]?.[0];
}

function cableTexts(survey: FleetSurvey, usual: number | undefined, page: Page): readonly string[] {
  const width = Math.max(0, ...survey.cables.map(({ ends }) => linkEndText(ends[0]).length));
  return survey.cables.map(({ ends: [a, b], sight, bitsPerSecond }) => {
    const speed = bitsPerSecond === undefined || bitsPerSecond === usual ? '' : `  ${speedText(bitsPerSecond)}`;
    return `${linkEndText(a).padEnd(width)} ${signOf(sight, page)} ${linkEndText(b)}${speed}`;
  });
}

/** Everything plugged in except cables between two nodes: docks, foreign Macs, cables that only one end sees. */
function strayLines({ name, receptacles }: NodeSurvey, usual: number | undefined, page: Page): readonly string[] {
  return strays(receptacles).flatMap(({ receptacle, sight, sees, bitsPerSecond }) => {
    const first = `${margin}${name}:${receptacle} ${signOf(sight, page)} `;
    const speed = bitsPerSecond === undefined || bitsPerSecond === usual ? '' : ` at ${speedText(bitsPerSecond)}`;
    return hang(first, `sees ${escapeText(sees)}${speed}`, page.columns);
  });
}

const strays = (receptacles: NodeSurvey['receptacles'] = []): NonNullable<NodeSurvey['receptacles']> =>
  receptacles.filter(({ sight, isInCable }) => !isInCable && sight !== 'empty' && sight !== 'nothing');

/** Each seen cable once, as `studio-1:2 = studio-2:2`, followed by other devices; empty if nothing is plugged in. */
export function cableLines(survey: FleetSurvey, page: Page): readonly string[] {
  const usual = usualSpeed(survey);
  const width = page.columns - margin.length;
  const cables = sideBySide(cableTexts(survey, usual, page), width).flatMap((line) => fitLines(line, width));
  const others = survey.nodes.flatMap((node) => strayLines(node, usual, page));
  if (cables.length + others.length === 0) return [];
  const isAll =
    survey.cables.every(({ bitsPerSecond }) => bitsPerSecond === usual) &&
    survey.nodes.every(({ receptacles }) => strays(receptacles).every(({ bitsPerSecond }) => bitsPerSecond === usual));
  const text = isAll ? `all at ${speedText(usual ?? 0)}` : `${speedText(usual ?? 0)} unless shown otherwise`;
  const speed = usual === undefined ? '' : ` (${text})`;
  return [
    ...hang(margin, `Cables seen${speed}`, page.columns).map((line) => page.paint('strong', line)),
    ...cables.map((line) => `${margin}${line}`),
    ...others,
  ];
}

const gap = '   ';
const margin = '  ';
const indent = margin + margin;

const tones: Readonly<Record<MeshState, Tone>> = {
  serving: 'good',
  hung: 'bad',
  changed: 'warn',
  partial: 'bad',
  dead: 'bad',
  stopped: 'warn',
  'not-placed': 'warn',
  unknown: 'warn',
};

/** A state that matches the file is never a warning. */
export const toneOf = ({ state, standing }: PlacementSurvey): Tone =>
  standing === 'met' && state !== 'serving' ? 'dim' : tones[state];

function transportCell(one: PlacementSurvey): string {
  const { transport, seenTransport: seen = transport } = one;
  if (seen !== transport) return `${seen} (the file says ${transport})`;
  return isRdmaUnseen(one) ? `${transport} (declared, not seen)` : transport;
}

const cellsOf = (one: PlacementSurvey): readonly string[] => [
  one.name,
  one.state.replace('-', ' '),
  transportCell(one),
  nodesText(one.nodes),
  one.sharding ?? '',
  one.generation === undefined ? '' : `gen ${one.generation}`,
  one.endpoint === undefined ? '' : `port ${one.endpoint.port} on ${one.endpoint.node}`,
  one.tokensPerSecond === undefined ? '' : `${one.tokensPerSecond} tokens/s`,
  one.firstTokenMs === undefined ? '' : `first token ${one.firstTokenMs} ms`,
];

/** The lines below a placement: its fallback, requests in flight, unobserved facts. Problems are findings instead. */
const reasonLines = ({ state, evidence, proof, nodes, onFallback }: PlacementSurvey, page: Page): readonly string[] => [
  ...(onFallback === undefined
    ? []
    : hang(indent, `runs on its fallback: ${layoutText({ nodes, ...onFallback })}`, page.columns)),
  ...(state === 'unknown' || proof !== undefined ? hang(indent, escapeText(evidence), page.columns) : []),
];

const partsText = ({ weights, cache }: { readonly weights: number; readonly cache: number }): string =>
  `weights ${bytesText(weights)}, cache ${bytesText(cache)}`;

function heldLines(memory: HeldMemory, page: Page): readonly string[] {
  const { node, held, predicted } = memory;
  const beside = isAsPredicted(memory) ? ', as predicted' : ` (predicted: ${predicted && partsText(predicted)})`;
  return hang(indent, `${node} uses ${partsText(held)}${predicted === undefined ? '' : beside}`, page.columns);
}

/** One line per placement: state, transport, nodes, split, generation and endpoint; on a narrow page several lines. */
export function placementLines(placements: readonly PlacementSurvey[], page: Page): readonly string[] {
  const rows = placements.map(cellsOf);
  const count = Math.max(0, ...rows.map((cells) => cells.length));
  const widths = Array.from({ length: count }, (_, at) => Math.max(...rows.map((cells) => columnsOf(cells[at] ?? ''))));
  const used = widths.filter((width) => width > 0);
  const isTable = used.reduce((sum, width) => sum + width + gap.length, margin.length - gap.length) <= page.columns;
  return placements.flatMap((one) => [
    ...(isTable ? [tableLine(one, widths, page)] : stackedLines(one, page)),
    ...reasonLines(one, page),
    ...(one.memory ?? []).flatMap((held) => heldLines(held, page)),
  ]);
}

function tableLine(one: PlacementSurvey, widths: readonly number[], page: Page): string {
  const cells = cellsOf(one).flatMap((cell, at) => {
    const width = widths[at] ?? 0;
    const painted = at === 1 ? page.paint(toneOf(one), cell) : cell;
    return width === 0 ? [] : [`${painted}${' '.repeat(width - columnsOf(cell))}`];
  });
  return `${margin}${cells.join(gap)}`.trimEnd();
}

function stackedLines(one: PlacementSurvey, page: Page): readonly string[] {
  const [name = '', state = '', ...others] = cellsOf(one);
  const isOneLine = columnsOf(`${margin}${name}${gap}${state}`) <= page.columns;
  const painted = page.paint(toneOf(one), state);
  const head = isOneLine
    ? [`${margin}${name}${gap}${painted}`]
    : [...hang(margin, name, page.columns), `${indent}${painted}`];
  const rest = flow(
    others.filter((cell) => cell !== ''),
    gap,
    page.columns - indent.length,
  );
  return [...head, ...rest.map((line) => `${indent}${line}`)];
}

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
  'no-thunderbolt-5': { text: 'needs TB5', tone: 'warn' },
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
/** No Mac has more receptacles than this, so a node that reports more cannot fill the page. */
const mostReceptacles = 16;
const longestVersion = 16;

const nodeWords = (node: NodeSurvey): readonly Word[] => [
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

/** The reading for each number; undefined if the Mac has no such receptacle. */
function sightsOf(node: NodeSurvey, numbers: readonly number[]): readonly (ReceptacleSight | undefined)[] {
  return numbers.map((number) =>
    node.receptacles === undefined ? 'unknown' : node.receptacles.find((one) => one.receptacle === number)?.sight,
  );
}

function marksText(node: NodeSurvey, numbers: readonly number[], page: Page): string {
  return sightsOf(node, numbers)
    .map((sight, index) => {
      const blanks = ' '.repeat(String(numbers[index]).length - 1);
      return `${blanks}${sight === undefined ? ' ' : page.paint(marks[sight].tone, signOf(sight, page))}`;
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
  /** Precedes the receptacle numbers if there is room. */
  readonly title: string;
  readonly page: Page;
}

function row(node: NodeSurvey, { widths, numbers, title, page }: Grid): string {
  const marks = `${' '.repeat(title.length)}${marksText(node, numbers, page)}`;
  const [name = '', ...others] = nodeWords(node).map((word, index) => paintWord(word, widths[index] ?? 0, page));
  if (node.isReached) return `${margin}${[name, ...others, marks].join(gap)}`;
  const width = widths.slice(1).reduce((sum, one) => sum + one + gap.length, title.length - gap.length);
  const reason = clip(reasonText(node), width);
  return `${margin}${[name, paintWord({ text: reason, tone: 'bad' }, width, page), marksText(node, numbers, page)].join(gap)}`;
}

function tabledNodes(nodes: readonly NodeSurvey[], grid: Grid): readonly string[] {
  const { widths, numbers, title, page } = grid;
  const head = titles.map((text, index) => padEnd(text, widths[index] ?? 0));
  return [
    `${margin}${page.paint('strong', [...head, `${title}${numbers.join(' ')}`].join(gap).trimEnd())}`,
    ...nodes.map((node) => row(node, grid).trimEnd()),
  ];
}

/** A few lines per node, for a page that is too narrow for a table. */
function stackedNodes(nodes: readonly NodeSurvey[], numbers: readonly number[], page: Page): readonly string[] {
  const room = page.columns - indent.length;
  const width = Math.max(0, ...nodes.map(({ name }) => name.length));
  const isBeside = numbers.length > 0 && margin.length + width + gap.length + numbers.join(' ').length <= page.columns;
  const heads = isBeside ? [`${margin}${' '.repeat(width)}${gap}${numbers.join(' ')}`] : [];
  const lines = nodes.flatMap((node) => {
    const [, ...cells] = nodeWords(node).map(({ text }, index) =>
      titles[index] === 'memory' ? text : `${titles[index]} ${text}`,
    );
    const texts = node.isReached ? flow(cells, gap, room) : fitLines(reasonText(node), room);
    const signs = numbers.length === 0 ? [] : [numbers.join(' '), marksText(node, numbers, page)];
    const names = fitLines(node.name, page.columns - margin.length).map((line) => page.paint('strong', line));
    const beside = `${margin}${page.paint('strong', node.name)}${' '.repeat(width - node.name.length)}${gap}${signs[1]}`;
    return [
      ...(isBeside ? [beside.trimEnd()] : names.map((line) => `${margin}${line}`)),
      ...[...texts, ...(isBeside ? [] : signs)].map((line) => `${indent}${line}`.trimEnd()),
    ];
  });
  return [...heads, ...lines];
}

/** Explains the signs that occur, such as `= as declared`, always in the same order. */
function legendLines(nodes: readonly NodeSurvey[], page: Page): readonly string[] {
  const numbers = receptacleNumbers(nodes);
  const sights = new Set(nodes.flatMap((node) => sightsOf(node, numbers)));
  const signs = (Object.keys(marks) as ReceptacleSight[]).filter((sight) => sights.has(sight));
  const texts = signs.map((sight) => `${signOf(sight, page)} ${marks[sight].means}`);
  const lines = flow(texts, gap, page.columns - margin.length);
  return lines.map((line) => page.paint('dim', `${margin}${line}`));
}

function columnWidths(nodes: readonly NodeSurvey[]): readonly number[] {
  const rows = nodes.filter((node) => node.isReached).map(nodeWords);
  const names = nodes.map((node) => node.name.length);
  return titles.map((title, index) => {
    const widths = index === 0 ? names : rows.map((cells) => columnsOf(cells[index]?.text ?? ''));
    return Math.max(title.length, ...widths);
  });
}

/** One line per node: macOS, memory, RDMA, bridge and a sign for each receptacle; several lines on a narrow page. */
function nodeTable(nodes: readonly NodeSurvey[], page: Page): readonly string[] {
  const numbers = receptacleNumbers(nodes);
  const widths = columnWidths(nodes);
  const sum = [...widths, numbers.join(' ').length].reduce(
    (all, one) => all + one + gap.length,
    margin.length - gap.length,
  );
  if (nodes.length === 0 || sum > page.columns) return stackedNodes(nodes, numbers, page);
  const title = numbers.length > 0 && sum + receptaclesTitle.length <= page.columns ? receptaclesTitle : '';
  return tabledNodes(nodes, { widths, numbers, title, page });
}

/** In legend order. */
export const marks: Readonly<
  Record<ReceptacleSight, { readonly sign: string; readonly tone: Tone; readonly means: string }>
> = {
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

const signOf = (sight: ReceptacleSight, page: Page): string =>
  page.unicode && sight === 'empty' ? '·' : marks[sight].sign;
