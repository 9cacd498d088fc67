import { escapeText } from '../../diagnostics/escape.ts';
import type { GraphReceptacle } from '../../engine/rack-graph.ts';
import { type Curve, labelSizes, type Outlet, type PlacedLabel, type Point } from './graph-geometry.ts';
import {
  type GraphLayout,
  graphSizes,
  type PlacedCable,
  type PlacedNode,
  type PlacedStray,
  type PlacedTail,
} from './graph-layout.ts';
import { cableTitle, type GraphPicture, type GraphTone, strayLines, xmlElement, xmlText } from './graph-words.ts';

/** The literal colors of a drawing on a light page, by what they are for: viewers without CSS show these. */
export const graphColors = {
  paper: '#ffffff',
  ink: '#1d1d1f',
  dim: '#5f5f66',
  box: '#f4f4f6',
  edge: '#7c7c83',
  good: '#1b7a48',
  plan: '#0b5fc0',
  bad: '#c8102e',
  extra: '#8f5200',
  open: '#5f5f66',
} as const;

/** Each stands out from the dark page as its light twin does from the light one. */
const dark: Readonly<Record<keyof typeof graphColors, string>> = {
  paper: '#16161a',
  ink: '#f2f2f5',
  dim: '#b0b0b8',
  box: '#26262c',
  edge: '#85858f',
  good: '#4fcf8b',
  plan: '#6cb4ff',
  bad: '#ff6b62',
  extra: '#ffb445',
  open: '#b0b0b8',
};

/** Every literal color of the drawing becomes its dark twin. */
const darkRules = Object.entries(dark)
  .flatMap(([name, color]) =>
    ['fill', 'stroke'].map(
      (key) => `.mw-rack [${key}="${graphColors[name as keyof typeof graphColors]}"]{${key}:${color}}`,
    ),
  )
  .join('');

/**
 * The style of a drawing: its fonts, line widths and dark page. Its light colors are attributes of the elements, because
 * few viewers besides browsers know CSS variables. Every rule begins with the class of the drawing, so that none reaches
 * the page around it.
 */
export const graphStyle = [
  '.mw-rack{color-scheme:light dark}',
  `@media (prefers-color-scheme:dark){${darkRules}}`,
  '.mw-rack text{font-family:system-ui,-apple-system,"Segoe UI","Helvetica Neue",Arial,sans-serif;font-size:11px}',
  '.mw-rack .heading{font-size:20px;font-weight:600}',
  '.mw-rack .name{font-size:15px;font-weight:600}',
  '.mw-rack .foot{font-size:12px}',
  '.mw-rack .number{font-weight:600}',
  '.mw-rack .case{stroke-width:1.5}',
  '.mw-rack .unseen .case{stroke-dasharray:2 4}',
  '.mw-rack .stray .case{stroke-dasharray:6 4}',
  '.mw-rack .socket{stroke-width:1.5}',
  '.mw-rack .halo{stroke-width:7}',
  '.mw-rack .line{stroke-width:2.5;stroke-linecap:round}',
  '.mw-rack .label{stroke-width:1.2}',
  '.mw-rack .mark{font-weight:700;text-anchor:middle}',
  '.mw-rack .unsure{stroke-dasharray:1 6}',
  '.mw-rack .absent{stroke-dasharray:8 6}',
].join('\n');

const moved = (point: Point, by: Point): Point => ({ x: point.x + by.x, y: point.y + by.y });

const pointText = ({ x, y }: Point): string => `${Math.round(x * 10) / 10 + 0} ${Math.round(y * 10) / 10 + 0}`;

const pathOf = ({ from, fromControl, toControl, to }: Curve, by: Point): string =>
  `M${pointText(moved(from, by))}C${[fromControl, toControl, to].map((one) => pointText(moved(one, by))).join(' ')}`;

/** A whole line has a gap of paper beside it, so that the eye can follow it over others; a dashed one hides nothing. */
function lines(d: string, tone: GraphTone, dashes = ''): string {
  const halo = { class: 'halo', d, fill: 'none', stroke: graphColors.paper };
  const line = { class: `line${dashes}`, d, fill: 'none', stroke: graphColors[tone] };
  return `${dashes === '' ? xmlElement('path', halo) : ''}${xmlElement('path', line)}`;
}

function dashesOf({ cable }: PlacedCable): string {
  if (cable.state === 'unknown') return ' unsure';
  return cable.isSeen ? '' : ' absent';
}

const cableSvg = (placed: PlacedCable, { graph }: GraphPicture, by: Point): string =>
  xmlElement(
    'g',
    {
      class: `cable ${placed.tone}`,
      'data-ends': placed.key,
      'data-state': placed.cable.state,
    },
    `${xmlElement('title', {}, xmlText(cableTitle(placed.cable, graph)))}${lines(pathOf(placed.curve, by), placed.tone, dashesOf(placed))}`,
  );

function tailSvg({ placed, key, tone, curve }: PlacedTail, by: Point): string {
  const ends = `${key} sees ${strayLines(placed.stray).join(', ')}`;
  return xmlElement(
    'g',
    { class: `cable ${tone}`, 'data-ends': key, 'data-state': placed.stray.kind },
    `${xmlElement('title', {}, xmlText(ends))}${lines(pathOf(curve, by), tone)}`,
  );
}

function labelSvg({ wire, lines: words, box }: PlacedLabel, by: Point): string {
  const { x, y } = moved(box, by);
  const size = { width: box.width, height: box.height, rx: 5 };
  const color = graphColors[wire.tone];
  const rect = xmlElement('rect', { class: 'label', x, y, ...size, fill: graphColors.paper, stroke: color });
  const texts = words.map((line, index) =>
    xmlElement(
      'text',
      { x: x + labelSizes.padding, y: y + labelSizes.line * (index + 1) - 1, fill: color },
      xmlText(line),
    ),
  );
  return xmlElement('g', { class: `note ${wire.tone}`, 'data-ends': wire.key }, [rect, ...texts].join(''));
}

/** The case with its texts: they keep away from the edge that has the sockets. */
function caseSvg({ box, edge, title, lines: small }: PlacedNode | PlacedStray, stroke: string, by: Point): string {
  const { x, y } = moved(box, by);
  const { padding, socketDepth, titleLine, line } = graphSizes;
  const left = x + padding + (edge === 'left' ? socketDepth : 0);
  const top = y + padding + (edge === 'top' ? socketDepth : 0);
  const below = top + title.length * titleLine;
  return [
    xmlElement('rect', {
      class: 'case',
      x,
      y,
      width: box.width,
      height: box.height,
      rx: 12,
      fill: graphColors.box,
      stroke,
    }),
    ...title.map((text, index) =>
      xmlElement(
        'text',
        { class: 'name', x: left, y: top + 14 + index * titleLine, fill: graphColors.ink },
        xmlText(text),
      ),
    ),
    ...small.map((text, index) =>
      xmlElement('text', { x: left, y: below + 10 + index * line, fill: graphColors.dim }, xmlText(text)),
    ),
  ].join('\n');
}

const shifted = (socket: Outlet, by: Point): Outlet => ({ ...moved(socket, by), out: socket.out });

function nodeSvg(placed: PlacedNode, picture: GraphPicture, by: Point): string {
  const { node } = placed;
  const isUnseen = !node.isSeen && !picture.graph.isDeclaredOnly;
  const sockets = node.receptacles.flatMap((receptacle, index) => {
    const socket = placed.sockets[index];
    return socket === undefined ? [] : [socketSvg(node.name, receptacle, shifted(socket, by))];
  });
  return xmlElement(
    'g',
    { class: isUnseen ? 'node unseen' : 'node', 'data-node': node.name },
    `\n${[caseSvg(placed, isUnseen ? graphColors.open : graphColors.edge, by), ...sockets].join('\n')}\n`,
  );
}

const straySvg = (placed: PlacedStray, by: Point): string =>
  xmlElement('g', { class: 'stray' }, `\n${caseSvg(placed, graphColors.extra, by)}\n`);

/** Everything of the rack, moved `by` this much: cables below, then Macs, then what is written on the cables. */
export const graphBody = (picture: GraphPicture, layout: GraphLayout, by: Point): string =>
  [
    ...layout.tails.map((tail) => tailSvg(tail, by)),
    ...layout.cables.toSorted((a, b) => height(a) - height(b)).map((one) => cableSvg(one, picture, by)),
    ...layout.ring.nodes.map((placed) => nodeSvg(placed, picture, by)),
    ...layout.ring.strays.map((placed) => straySvg(placed, by)),
    ...layout.labels.map((label) => labelSvg(label, by)),
  ].join('\n');

/** What somebody has to look at lies above what is as it should be, and dashes above whole lines. */
const height = ({ cable, tone }: PlacedCable): number => (cable.isSeen ? 0 : 2) + (tone === 'bad' ? 1 : 0);

/** How a receptacle is drawn: its tone, whether something is plugged in, and the sign in it, for what is not as usual. */
interface SocketLook {
  readonly tone?: GraphTone;
  readonly isFull: boolean;
  readonly sign: string;
  /** What the sign means. */
  readonly legend: string;
}

const looks: Readonly<Record<GraphReceptacle['sight'], SocketLook>> = {
  'as-declared': { tone: 'good', isFull: true, sign: '', legend: '' },
  declared: { tone: 'plan', isFull: true, sign: '', legend: '' },
  slow: { tone: 'bad', isFull: true, sign: '~', legend: '' },
  'through-hub': { tone: 'bad', isFull: true, sign: 'h', legend: '' },
  'one-sided': { tone: 'bad', isFull: true, sign: '/', legend: '' },
  wrong: { tone: 'bad', isFull: true, sign: 'x', legend: 'something else is plugged in' },
  nothing: { tone: 'bad', isFull: false, sign: 'o', legend: 'declared, nothing plugged in' },
  undeclared: { tone: 'extra', isFull: true, sign: '+', legend: 'plugged in, not in the file' },
  foreign: { tone: 'extra', isFull: true, sign: 'f', legend: 'a Mac that is not in the file' },
  device: { tone: 'open', isFull: true, sign: 'd', legend: 'a dock, display or disk' },
  silent: { tone: 'open', isFull: true, sign: '!', legend: 'something that does not answer' },
  unknown: { tone: 'open', isFull: false, sign: '?', legend: 'unknown' },
  empty: { isFull: false, sign: '', legend: '' },
  free: { isFull: false, sign: '', legend: '' },
};

/** `studio-1:2, back: sees studio-2:2`: all that is known of a receptacle. */
function titleOf(name: string, { receptacle, place, sees }: GraphReceptacle): string {
  const where = place === undefined ? '' : ` (${place.words})`;
  return `${name} receptacle ${receptacle}${where}${sees === undefined ? '' : `: sees ${escapeText(sees)}`}`;
}

/** The socket itself with its sign, lying on the edge of the case. */
export function socketShape(sight: GraphReceptacle['sight'], { x, y, out }: Outlet): string {
  const look = looks[sight];
  const [width, height] = out.x === 0 ? [20, 14] : [14, 20];
  const stroke = graphColors[look.tone ?? 'edge'];
  const fill = look.isFull ? stroke : graphColors.paper;
  const shape = { class: 'socket', x: x - width / 2, y: y - height / 2, width, height, rx: 6, fill, stroke };
  const sign = { class: 'mark', x, y: y + 4, fill: look.isFull ? graphColors.paper : graphColors.ink };
  const mark = look.sign === '' ? '' : xmlElement('text', sign, xmlText(look.sign));
  return `${xmlElement('rect', shape)}${mark}`;
}

/** A receptacle on the edge of its case, with its number inside. */
function socketSvg(name: string, receptacle: GraphReceptacle, socket: Outlet): string {
  const { x, y, out } = socket;
  const at = { x: x - out.x * 17, y: y - out.y * 17 + 4 };
  const number = { class: 'number', ...at, 'text-anchor': 'middle', fill: graphColors.ink };
  return xmlElement(
    'g',
    { class: 'receptacle', 'data-receptacle': `${name}:${receptacle.receptacle}`, 'data-sight': receptacle.sight },
    [
      xmlElement('title', {}, xmlText(titleOf(name, receptacle))),
      socketShape(receptacle.sight, socket),
      xmlElement('text', number, String(receptacle.receptacle)),
    ].join(''),
  );
}

/** The sign of a receptacle, one character wide; empty for what is as usual. */
export const socketSign = (sight: GraphReceptacle['sight']): string => looks[sight].sign;

/** The sights whose sign has to be explained, in the order of the legend, with what it means. */
export const socketLegends = Object.keys(looks)
  .filter((sight): sight is GraphReceptacle['sight'] => sight in looks)
  .map((sight) => ({ sight, legend: looks[sight].legend }))
  .filter(({ legend }) => legend !== '');
