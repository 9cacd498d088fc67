import { bytesText, tokensText } from '../../diagnostics/amount-words.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { FitVerdict, NodeFit } from '../../model/fit/memory-fit.ts';
import { fitMarks } from '../../model/fit/memory-fit.ts';
import { canRun, type ModelFit } from '../../model/fit/model-fit.ts';
import { type ModelShape, weightBytes } from '../../model/fit/model-shape.ts';
import { counted } from '../counted.ts';
import { fitLines, hang } from '../layout.ts';
import { nodesText } from '../nodes-text.ts';
import { type Page, type Paint, pageColumns, plainPaint, type Tone } from '../page.ts';
import { budgetWords } from './budget-words.ts';

/** What `fit MODEL` shows, and on what. */
export interface ModelFitInput {
  readonly fit: ModelFit;
  readonly columns: number;
  readonly unicode: boolean;
  readonly paint?: Paint;
}

const verdictWords: Readonly<Record<FitVerdict, string>> = {
  fits: 'fits',
  'near-degraded': 'fits, above 60 % of the memory',
  degraded: 'fits, above 70 % of the memory, where meshes become slow',
  tight: 'is tight: above 90 % of what the GPU may use',
  'does-not-fit': 'does not fit',
};

/** Whether a model fits on these Macs, its bytes on each of them beside the marks, and what would do otherwise. */
export function modelFitText({ fit, columns, unicode, paint = plainPaint }: ModelFitInput): string {
  const page: Page = { columns: pageColumns(columns), unicode, paint, isSimulated: false };
  const advice = fit.advice === undefined ? [] : [fitLines(fit.advice, page.columns)];
  const blocks = [headLines(fit, page), ...groupNodes(fit.nodes).map((nodes) => nodeLines(nodes, page)), ...advice];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function headLines(fit: ModelFit, page: Page): readonly string[] {
  const { model, verdict, problems, nodes } = fit;
  const on = nodesText(nodes.map(({ node }) => node));
  const verdictText = problems.length > 0 ? 'cannot run this way' : verdictWords[verdict];
  const tone: Tone = canRun(fit) ? (verdict === 'fits' ? 'good' : 'warn') : 'bad';
  const wish = [
    `${tokensText(fit.contextTokens)} of context`,
    `${counted(fit.parallel, 'request')} at once`,
    fit.sharding === undefined ? driverText(fit) : `${driverText(fit)}, ${fit.sharding}`,
  ];
  return [
    ...fitLines(escapeText(`${model} on ${on} ${verdictText}.`), page.columns).map((line) => page.paint(tone, line)),
    ...[...problems, ...fit.doubts, ...(fit.pace === undefined ? [] : [fit.pace])].flatMap((problem) =>
      fitLines(problem, page.columns),
    ),
    ...fitLines(`${shapeText(fit.shape)}; ${wish.join('; ')}.`, page.columns),
  ];
}

const driverText = ({ driver, mlxLm }: ModelFit): string =>
  mlxLm === undefined ? driver : `mlx-lm ${mlxLm.version}${mlxLm.isAssumed ? ' (assumed)' : ''}`;

function shapeText(shape: ModelShape): string {
  const { architecture, layers, attention, heads, kvHeads } = shape;
  const kinds = attention.kind === 'mla' ? `${heads} heads, MLA` : `${heads} heads over ${kvHeads}`;
  return `${architecture}, ${counted(layers.length, 'layer')}, ${kinds}, ${bytesText(weightBytes(shape))} of weights`;
}

/** Nodes whose numbers are all the same. */
function groupNodes(nodes: readonly NodeFit[]): readonly (readonly NodeFit[])[] {
  const groups = new Map<string, readonly NodeFit[]>();
  for (const one of nodes) {
    const { node: _, shares, ...rest } = one;
    const key = JSON.stringify({ ...rest, shares: shares.map(({ rank: __, ...share }) => share) });
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()];
}

function nodeLines(nodes: readonly NodeFit[], page: Page): readonly string[] {
  const [first] = nodes;
  if (first === undefined) return [];
  const { needBytes, budget, memoryBytes = 0, shares, unknown } = first;
  const room = budget?.bytes ?? 0;
  const mine = shares.at(-1);
  const beside = shares.slice(0, -1).map(({ placement, need }) => `${placement} ${bytesText(need.total)}`);
  const also = [...beside, ...unknown.map((placement) => `${placement}, whose memory nobody knows`)];
  const each = nodes.length > 1 ? ' each' : '';
  return [
    page.paint('strong', `${nodesText(nodes.map(({ node }) => node))}${each}`),
    ...(mine === undefined ? [] : hang('  needs   ', needParts(mine.need), page.columns)),
    ...(also.length === 0 ? [] : hang('  beside  ', also.join(', '), page.columns)),
    ...hang(
      '  uses    ',
      `${bytesText(needBytes)} of ${bytesText(room)}, ${percent(needBytes, room)} of what the GPU may use (${sourceOf(first)})`,
      page.columns,
    ),
    ...hang('  marks   ', marksText(memoryBytes, room), page.columns),
    `  ${bar({ needBytes, room, memoryBytes }, page)}`,
  ];
}

const sourceOf = ({ budget }: NodeFit): string => budgetWords[budget?.kind ?? 'assumed'];

const percent = (part: number, whole: number): string => (whole === 0 ? '?' : `${Math.round((100 * part) / whole)} %`);

function needParts({
  weights,
  cache,
  compute,
  promptCache,
  loading,
  process,
  total,
}: NodeFit['shares'][number]['need']): string {
  const later = cache + compute + promptCache;
  const parts =
    loading > later
      ? [`loading ${bytesText(loading)}`]
      : [`cache ${bytesText(cache)}`, `computing ${bytesText(compute + promptCache)}`];
  return `weights ${bytesText(weights)}, ${parts.join(', ')}, process ${bytesText(process)}: ${bytesText(total)}`;
}

const marksText = (memory: number, room: number): string =>
  `60 % of the memory ${bytesText(fitMarks.nearDegraded * memory)}, 70 % ${bytesText(fitMarks.degraded * memory)}, 90 % of the GPU ${bytesText(fitMarks.tight * room)}`;

interface Bar {
  readonly needBytes: number;
  readonly room: number;
  readonly memoryBytes: number;
}

/** The memory as a bar with the three marks; the end is all of it, and what is too much ends with `>`. */
function bar({ needBytes, room, memoryBytes }: Bar, page: Page): string {
  const width = Math.min(60, page.columns - 6);
  const at = (bytes: number): number => Math.round((width * bytes) / Math.max(1, memoryBytes));
  const marks = [fitMarks.nearDegraded * memoryBytes, fitMarks.degraded * memoryBytes, fitMarks.tight * room].map(at);
  const filled = at(needBytes);
  const cells = Array.from({ length: width }, (_, cell) => {
    if (marks.includes(cell)) return '|';
    return cell < filled ? '#' : '.';
  });
  return `[${cells.join('')}]${filled > width ? '>' : ''}`;
}
