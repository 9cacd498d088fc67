import { columnsOf } from '../../diagnostics/cells.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { GraphCableState, GraphReceptacle } from '../../engine/rack-graph.ts';
import { fitLines } from '../page.ts';
import {
  type Curve,
  graphLayout,
  graphSizes,
  labelSizes,
  type Outlet,
  type PlacedLabel,
  type PlacedMac,
  type Point,
  type Wire,
} from './graph-layout.ts';
import {
  cableStates,
  cableTitle,
  type GraphPicture,
  graphColors,
  graphNotes,
  graphSummary,
  moveLines,
  socketSights,
  xmlText,
} from './graph-words.ts';

const margin = 28;
const narrowest = 720;
const headingColumn = 14;
const headingLine = 26;

const simulatedWidth = 96;

function head(picture: GraphPicture, width: number): { readonly text: string; readonly height: number } {
  const { graph, isSimulated } = picture;
  const room = width - 2 * margin - (isSimulated ? simulatedWidth : 0);
  const title = fitLines(graph.cluster, Math.floor(room / headingColumn));
  const top = margin + 12;
  const below = top + title.length * headingLine - 4;
  const summary = fitLines(graphSummary(picture), Math.floor(room / 8));
  const parts = [
    ...xmlTexts(title, headingLine, { class: 'heading', x: margin, y: top, fill: graphColors.ink }),
    ...xmlTexts(summary, 17, { class: 'foot', x: margin, y: below, fill: graphColors.dim }),
    ...(isSimulated
      ? [
          xmlElement(
            'text',
            { class: 'foot number', x: width - margin, y: top, 'text-anchor': 'end', fill: graphColors.extra },
            'simulated',
          ),
        ]
      : []),
  ];
  return { text: parts.join('\n'), height: below + summary.length * 17 + 12 };
}

/** A text description of the drawing for screen readers. */
function description(picture: GraphPicture): string {
  const { graph } = picture;
  const cables = graph.cables.map((cable) => cableTitle(cable, graph));
  return [...picture.warnings, graphSummary(picture), ...cables, ...graphNotes(picture)].join('. ');
}

/**
 * The rack as one SVG document: Macs with their receptacles, declared and seen cables, manual steps on the cables and
 * in a list below, and a legend. The document needs no script, font or other file, follows the viewer's light or dark
 * mode, and is deterministic.
 */
export function graphSvg(picture: GraphPicture): string {
  const layout = graphLayout(picture);
  const { bounds } = layout;
  const widest = Math.max(narrowest, bounds.width + 2 * margin, columnsOf(picture.graph.cluster) > 60 ? 900 : 0);
  const width = Math.ceil(widest);
  const top = head(picture, width);
  const foot = graphFoot(picture, { x: margin, y: top.height + bounds.height + 34, width: width - 2 * margin });
  const height = Math.ceil(foot.bottom + margin - 10);
  const shift = { x: (width - bounds.width) / 2 - bounds.x, y: top.height - bounds.y };
  const root = {
    xmlns: 'http://www.w3.org/2000/svg',
    class: 'mw-rack',
    role: 'img',
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
  };
  const mark = picture.isSimulated ? ' (simulated)' : '';
  const parts = [
    xmlElement('title', {}, xmlText(`${picture.graph.cluster}${mark}`)),
    xmlElement('desc', {}, xmlText(description(picture))),
    xmlElement('style', {}, `\n${graphStyle}\n`),
    xmlElement('rect', { class: 'paper', width, height, fill: graphColors.paper }),
    top.text,
    graphBody(picture, layout, shift),
    foot.text,
  ];
  return `${xmlElement('svg', root, `\n${parts.join('\n')}\n`)}\n`;
}

/** The start and width of the text below the drawing. */
interface Room extends Point {
  readonly width: number;
}

/** Positioned text, and the y coordinate where the next block begins. */
interface SetText {
  readonly text: string;
  readonly bottom: number;
}

const line = 18;
/** The column width of text below the drawing, in the widest common font. */
const column = 8;

function textBlock(lines: readonly string[], color: keyof typeof graphColors, room: Room, isBold = false): SetText {
  const { x, y, width } = room;
  const fill = graphColors[color];
  const fitted = lines.flatMap((one) => fitLines(one, Math.floor(width / column)));
  const texts = xmlTexts(fitted, line, { class: isBold ? 'foot number' : 'foot', x, y, fill });
  return { text: texts.join('\n'), bottom: y + fitted.length * line + (fitted.length === 0 ? 0 : 10) };
}

const sampleWidth = 34;

const socketSample = (sight: GraphReceptacle['sight'], { x, y }: Point): string =>
  socketShape(sight, { x: x + sampleWidth / 2, y: y - 4, out: { x: 0, y: 1 } });

/** States with identical lines; only the receptacle sign differs. */
const signedStates = ['slow', 'through-hub', 'one-sided'] as const;

function lineSample(state: GraphCableState, at: Point): string {
  const sign = signedStates.find((one) => one === state);
  const path = linePath(`M${at.x} ${at.y - 4}h${sampleWidth}`, cableStates[state]);
  return `${path}${sign === undefined ? '' : socketSample(sign, at)}`;
}

/** Legend entries (a sample and its meaning) for the states that occur in the drawing. */
function entriesOf({ graph }: GraphPicture) {
  const states = new Set<string>(graph.cables.map((cable) => cable.state));
  const sights = new Set<string>(graph.nodes.flatMap((node) => node.receptacles.map(({ sight }) => sight)));
  return [
    ...entriesIn(cableStates)
      .filter(([state]) => states.has(state))
      .map(([state, { legend }]) => ({ sample: (at: Point) => lineSample(state, at), words: legend })),
    ...entriesIn(socketSights)
      .filter(([sight, { legend }]) => legend !== '' && sights.has(sight))
      .map(([sight, { legend }]) => ({ sample: (at: Point) => socketSample(sight, at), words: legend })),
  ];
}

const entriesIn = <K extends string, V>(table: Readonly<Record<K, V>>): readonly (readonly [K, V])[] =>
  Object.entries(table) as [K, V][];

function legend(picture: GraphPicture, { x, y, width }: Room): SetText {
  let at: Point = { x, y };
  const parts = entriesOf(picture).map(({ sample, words }) => {
    const needed = sampleWidth + 8 + columnsOf(words) * column;
    if (at.x > x && at.x + needed > x + width) at = { x, y: at.y + line + 2 };
    const text = { class: 'foot', x: at.x + sampleWidth + 8, y: at.y, fill: graphColors.dim };
    const drawn = `${sample(at)}${xmlElement('text', text, xmlText(words))}`;
    at = { x: at.x + needed + 14, y: at.y };
    return drawn;
  });
  return { text: parts.join('\n'), bottom: at.y + line };
}

function graphFoot(picture: GraphPicture, room: Room): SetText {
  const todo = moveLines(picture.graph);
  const alarm = textBlock(picture.warnings.map(escapeText), 'bad', room, true);
  const list = todo.length === 0 ? [] : ['Manual steps at the rack, in this order:', ...todo];
  const work = textBlock(list, 'bad', { ...room, y: alarm.bottom });
  const notes = textBlock(graphNotes(picture), 'dim', { ...room, y: work.bottom });
  const last = legend(picture, { ...room, y: notes.bottom });
  const numbers = textBlock(['Receptacle numbers are those that macOS prints.'], 'dim', {
    ...room,
    y: last.bottom + 2,
  });
  const parts = [alarm.text, work.text, notes.text, last.text, numbers.text].filter((part) => part !== '');
  return { text: parts.join('\n'), bottom: numbers.bottom };
}

/** These colors have the same contrast on a dark page as the light colors on a light page. */
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

const darkRules = Object.entries(dark)
  .flatMap(([name, color]) =>
    ['fill', 'stroke'].map(
      (key) => `.mw-rack [${key}="${graphColors[name as keyof typeof graphColors]}"]{${key}:${color}}`,
    ),
  )
  .join('');

/**
 * Fonts, line widths and dark colors. Light colors are element attributes, because few viewers except browsers support
 * CSS variables. Every rule begins with the drawing's class, so that the rules do not affect the surrounding page.
 */
const graphStyle = [
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

const strokeClasses = { solid: '', dashed: ' absent', dotted: ' unsure' } as const;

const linePath = (d: string, { tone, stroke }: Pick<Wire, 'tone' | 'stroke'>): string =>
  xmlElement('path', { class: `line${strokeClasses[stroke]}`, d, fill: 'none', stroke: graphColors[tone] });

/** A solid line gets a halo in the paper color, so that it is visible where it crosses other lines. */
function wireSvg(wire: Wire, by: Point): string {
  const { tone, key, state, title, stroke, curve } = wire;
  const d = pathOf(curve, by);
  const halo = xmlElement('path', { class: 'halo', d, fill: 'none', stroke: graphColors.paper });
  return xmlElement(
    'g',
    { class: `cable ${tone}`, 'data-ends': key, 'data-state': state },
    `${xmlElement('title', {}, xmlText(title))}${stroke === 'solid' ? halo : ''}${linePath(d, wire)}`,
  );
}

function labelSvg({ wire, lines, box }: PlacedLabel, by: Point): string {
  const { x, y } = moved(box, by);
  const size = { width: box.width, height: box.height, rx: 5 };
  const color = graphColors[wire.tone];
  const rect = xmlElement('rect', { class: 'label', x, y, ...size, fill: graphColors.paper, stroke: color });
  const { padding, line } = labelSizes;
  const texts = xmlTexts(lines, line, { x: x + padding, y: y + line - 1, fill: color });
  return xmlElement('g', { class: `note ${wire.tone}`, 'data-ends': wire.key }, [rect, ...texts].join(''));
}

/** The case and its text, which avoids the edge with the sockets. */
function caseSvg({ box, edge, title, lines }: PlacedMac, stroke: string, by: Point): string {
  const { x, y } = moved(box, by);
  const { width, height } = box;
  const { padding, socketDepth, titleLine, line } = graphSizes;
  const left = x + padding + (edge === 'left' ? socketDepth : 0);
  const top = y + padding + (edge === 'top' ? socketDepth : 0);
  const below = top + title.length * titleLine;
  return [
    xmlElement('rect', { class: 'case', x, y, width, height, rx: 12, fill: graphColors.box, stroke }),
    ...xmlTexts(title, titleLine, { class: 'name', x: left, y: top + 14, fill: graphColors.ink }),
    ...xmlTexts(lines, line, { x: left, y: below + 10, fill: graphColors.dim }),
  ].join('\n');
}

function macSvg(mac: PlacedMac, { graph }: GraphPicture, by: Point): string {
  const { node } = mac;
  if (node === undefined) return xmlElement('g', { class: 'stray' }, `\n${caseSvg(mac, graphColors.extra, by)}\n`);
  const isUnseen = !node.isSeen && !graph.isDeclaredOnly;
  const sockets = node.receptacles.flatMap((receptacle, index) => {
    const socket = mac.sockets[index];
    return socket === undefined ? [] : [socketSvg(node.name, receptacle, { ...moved(socket, by), out: socket.out })];
  });
  return xmlElement(
    'g',
    { class: isUnseen ? 'node unseen' : 'node', 'data-node': node.name },
    `\n${[caseSvg(mac, isUnseen ? graphColors.open : graphColors.edge, by), ...sockets].join('\n')}\n`,
  );
}

/** The rack, moved by `by`: cables at the bottom, then Macs, then cable labels on top. */
const graphBody = (picture: GraphPicture, layout: ReturnType<typeof graphLayout>, by: Point): string =>
  [
    ...layout.tails.map((tail) => wireSvg(tail, by)),
    ...layout.cables.toSorted((a, b) => height(a) - height(b)).map((one) => wireSvg(one, by)),
    ...layout.macs
      .toSorted((a, b) => Number(a.node === undefined) - Number(b.node === undefined))
      .map((mac) => macSvg(mac, picture, by)),
    ...layout.labels.map((label) => labelSvg(label, by)),
  ].join('\n');

/** Draws problems above good cables, and dashed lines above solid ones. */
const height = ({ stroke, tone }: Wire): number => (stroke === 'solid' ? 0 : 2) + (tone === 'bad' ? 1 : 0);

/** All known details of a receptacle: `studio-1 receptacle 2 (back): sees studio-2:2`. */
function titleOf(name: string, { receptacle, place, sees }: GraphReceptacle): string {
  const where = place === undefined ? '' : ` (${place.words})`;
  return `${name} receptacle ${receptacle}${where}${sees === undefined ? '' : `: sees ${escapeText(sees)}`}`;
}

function socketShape(sight: GraphReceptacle['sight'], { x, y, out }: Outlet): string {
  const style = socketSights[sight];
  const [width, height] = out.x === 0 ? [20, 14] : [14, 20];
  const stroke = graphColors[style.tone ?? 'edge'];
  const fill = style.isFull ? stroke : graphColors.paper;
  const shape = { class: 'socket', x: x - width / 2, y: y - height / 2, width, height, rx: 6, fill, stroke };
  const sign = { class: 'mark', x, y: y + 4, fill: style.isFull ? graphColors.paper : graphColors.ink };
  const mark = style.sign === '' ? '' : xmlElement('text', sign, xmlText(style.sign));
  return `${xmlElement('rect', shape)}${mark}`;
}

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

type Attributes = Readonly<Record<string, string | number>>;

/** `<name a="1">content</name>`. The content must already be XML. */
function xmlElement(name: string, attributes: Attributes, content = ''): string {
  const written = Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${attributeText(value)}"`)
    .join('');
  return content === '' ? `<${name}${written}/>` : `<${name}${written}>${content}</${name}>`;
}

/** Rounds to one decimal place, so that the output is identical on every platform. */
const attributeText = (value: string | number): string =>
  typeof value === 'number' ? String(Math.round(value * 10) / 10 + 0) : xmlText(value);

/** Lines of text at intervals of `step`; the first is at `y`. */
const xmlTexts = (
  lines: readonly string[],
  step: number,
  attributes: Attributes & { readonly y: number },
): readonly string[] =>
  lines.map((line, index) => xmlElement('text', { ...attributes, y: attributes.y + index * step }, xmlText(line)));
