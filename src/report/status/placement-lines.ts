import { bytesText } from '../../diagnostics/amount-words.ts';
import { columnsOf } from '../../diagnostics/cells.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { layoutText } from '../../model/text/layout-text.ts';
import {
  isRdmaUnseen,
  type PlacementState,
  type PlacementSurvey,
} from '../../rack/placement/check/placement-survey.ts';
import { type HeldMemory, isAsPredicted } from '../../rack/placement/state/held-memory.ts';
import { flow, hang } from '../layout.ts';
import { nodeSpan } from '../nodes-text.ts';
import type { Page, Tone } from '../page.ts';

const gap = '   ';
const margin = '  ';
const indent = margin + margin;

const tones: Readonly<Record<PlacementState, Tone>> = {
  serving: 'good',
  hung: 'bad',
  changed: 'warn',
  partial: 'bad',
  dead: 'bad',
  stopped: 'warn',
  'not-placed': 'warn',
  unknown: 'warn',
};

const stateText = ({ state }: PlacementSurvey): string => state.replace('-', ' ');

/** What the file wants is no warning, whatever it is. */
const toneOf = ({ state, standing }: PlacementSurvey): Tone =>
  standing === 'met' && state !== 'serving' ? 'dim' : tones[state];

const cellsOf = (one: PlacementSurvey): readonly string[] => [
  one.name,
  stateText(one),
  isRdmaUnseen(one) ? `${one.transport} (declared, not seen)` : one.transport,
  nodeSpan(one.nodes),
  one.sharding ?? '',
  one.generation === undefined ? '' : `gen ${one.generation}`,
  one.endpoint === undefined ? '' : `port ${one.endpoint.port} on ${one.endpoint.node}`,
  one.tokensPerSecond === undefined ? '' : `${one.tokensPerSecond} tokens/s`,
  one.firstTokenMs === undefined ? '' : `first token ${one.firstTokenMs} ms`,
];

/**
 * Below a placement stands that it runs on its fallback, that it is busy, and what could not be seen of it; what is wrong with one is told
 * as a finding.
 */
const reasonLines = ({ state, evidence, proof, nodes, onFallback }: PlacementSurvey, page: Page): readonly string[] => [
  ...(onFallback === undefined
    ? []
    : hang(indent, `on its fallback: ${layoutText({ nodes, ...onFallback })}`, page.columns)),
  ...(state === 'unknown' || proof !== undefined ? hang(indent, escapeText(evidence), page.columns) : []),
];

const partsText = ({ weights, cache }: { readonly weights: number; readonly cache: number }): string =>
  `weights ${bytesText(weights)}, cache ${bytesText(cache)}`;

/** What a node holds, beside what was predicted where that is another number. */
function heldLines(memory: HeldMemory, page: Page): readonly string[] {
  const { node, held, predicted } = memory;
  const beside = isAsPredicted(memory) ? ', as predicted' : ` (predicted: ${predicted && partsText(predicted)})`;
  return hang(indent, `${node} holds ${partsText(held)}${predicted === undefined ? '' : beside}`, page.columns);
}

/** One line per placement: its state, transport, nodes, split, count of starts and endpoint; two where there is no room. */
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
    const told = at === 1 ? page.paint(toneOf(one), cell) : cell;
    return width === 0 ? [] : [`${told}${' '.repeat(width - columnsOf(cell))}`];
  });
  return `${margin}${cells.join(gap)}`.trimEnd();
}

function stackedLines(one: PlacementSurvey, page: Page): readonly string[] {
  const [name = '', state = '', ...others] = cellsOf(one);
  const isOneLine = columnsOf(`${margin}${name}${gap}${state}`) <= page.columns;
  const told = page.paint(toneOf(one), state);
  const head = isOneLine
    ? [`${margin}${name}${gap}${told}`]
    : [...hang(margin, name, page.columns), `${indent}${told}`];
  const rest = flow(
    others.filter((cell) => cell !== ''),
    gap,
    page.columns - indent.length,
  );
  return [...head, ...rest.map((line) => `${indent}${line}`)];
}
