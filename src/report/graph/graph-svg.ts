import { columnsOf } from '../../diagnostics/cells.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { fitLines } from '../page.ts';
import { graphBody, graphColors, graphStyle, socketLegends, socketShape } from './graph-body.ts';
import type { Point } from './graph-geometry.ts';
import { graphLayout } from './graph-layout.ts';
import {
  cableTitle,
  type GraphPicture,
  graphNotes,
  graphStates,
  graphSummary,
  legendOf,
  moveLines,
  toneOf,
  xmlElement,
  xmlText,
} from './graph-words.ts';

const margin = 28;
const narrowest = 720;
const headingColumn = 14;
const headingLine = 26;

const simulatedWidth = 96;

/** The name of the rack and what is drawn, and on the right that it is simulated, if it is. */
function head(picture: GraphPicture, width: number): { readonly text: string; readonly height: number } {
  const { graph, isSimulated } = picture;
  const room = width - 2 * margin - (isSimulated ? simulatedWidth : 0);
  const title = fitLines(graph.cluster, Math.floor(room / headingColumn));
  const top = margin + 12;
  const below = top + title.length * headingLine - 4;
  const summary = fitLines(graphSummary(picture), Math.floor(room / 8));
  const parts = [
    ...title.map((line, index) =>
      xmlElement(
        'text',
        { class: 'heading', x: margin, y: top + index * headingLine, fill: graphColors.ink },
        xmlText(line),
      ),
    ),
    ...summary.map((line, index) =>
      xmlElement('text', { class: 'foot', x: margin, y: below + index * 17, fill: graphColors.dim }, xmlText(line)),
    ),
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

/** The drawing in words, for whoever cannot see it. */
function description(picture: GraphPicture): string {
  const { graph } = picture;
  const cables = graph.cables.map((cable) => cableTitle(cable, graph));
  return [...picture.warnings, graphSummary(picture), ...cables, ...graphNotes(picture)].join('. ');
}

/**
 * The rack as one SVG document: Macs with their receptacles, cables as declared and as seen, what hands have to do
 * written on the cables and listed below, a legend. It needs no script, font or file beside it, follows the light or
 * dark page of whoever looks at it, and is the same bytes for the same picture.
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

/** Where the text below the drawing begins, and how wide it may be. */
interface Room extends Point {
  readonly width: number;
}

/** Text that is in its place, and where the next begins. */
interface SetText {
  readonly text: string;
  readonly bottom: number;
}

const line = 18;
/** How wide a column of this text may be in the widest common font. */
const column = 8;

function textBlock(lines: readonly string[], color: keyof typeof graphColors, room: Room, isBold = false): SetText {
  const { x, y, width } = room;
  const fill = graphColors[color];
  const fitted = lines.flatMap((one) => fitLines(one, Math.floor(width / column)));
  const texts = fitted.map((words, index) =>
    xmlElement('text', { class: isBold ? 'foot number' : 'foot', x, y: y + index * line, fill }, xmlText(words)),
  );
  return { text: texts.join('\n'), bottom: y + fitted.length * line + (fitted.length === 0 ? 0 : 10) };
}

interface Entry {
  readonly sample: (at: Point) => string;
  readonly words: string;
}

const sampleWidth = 34;

/** States whose lines look the same: the sign of their receptacles tells them apart. */
const signedStates = ['slow', 'through-hub', 'one-sided'] as const;

function lineSample(state: (typeof graphStates)[number], { x, y }: Point): string {
  const isSeen = state !== 'declared' && state !== 'missing' && state !== 'unknown';
  const dashes = state === 'unknown' ? ' unsure' : isSeen ? '' : ' absent';
  const d = `M${x} ${y - 4}h${sampleWidth}`;
  const sign = signedStates.find((one) => one === state);
  const socket = sign === undefined ? '' : socketShape(sign, { x: x + sampleWidth / 2, y: y - 4, out: { x: 0, y: 1 } });
  const path = { class: `line${dashes}`, d, fill: 'none', stroke: graphColors[toneOf(state)] };
  return `${xmlElement('path', path)}${socket}`;
}

/** What occurs in the drawing and has to be explained. */
function entriesOf({ graph }: GraphPicture): readonly Entry[] {
  const states = new Set(graph.cables.map((cable) => cable.state));
  const sights = new Set(graph.nodes.flatMap((node) => node.receptacles.map(({ sight }) => sight)));
  const out = { x: 0, y: 1 };
  return [
    ...graphStates
      .filter((state) => states.has(state))
      .map((state) => ({ sample: (at: Point) => lineSample(state, at), words: legendOf(state) })),
    ...socketLegends
      .filter(({ sight }) => sights.has(sight))
      .map(({ sight, legend }) => ({
        sample: ({ x, y }: Point) => socketShape(sight, { x: x + sampleWidth / 2, y: y - 4, out }),
        words: legend,
      })),
  ];
}

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

/** What stands below the drawing: the work of hands, what else is plugged in, the legend. */
function graphFoot(picture: GraphPicture, room: Room): SetText {
  const todo = moveLines(picture.graph);
  const alarm = textBlock(picture.warnings.map(escapeText), 'bad', room, true);
  const list = todo.length === 0 ? [] : ['For the hands at the rack, in this order:', ...todo];
  const work = textBlock(list, 'bad', { ...room, y: alarm.bottom });
  const notes = textBlock(graphNotes(picture), 'dim', { ...room, y: work.bottom });
  const last = legend(picture, { ...room, y: notes.bottom });
  const numbers = textBlock(['Receptacles have the numbers that macOS prints.'], 'dim', {
    ...room,
    y: last.bottom + 2,
  });
  const parts = [alarm.text, work.text, notes.text, last.text, numbers.text].filter((part) => part !== '');
  return { text: parts.join('\n'), bottom: numbers.bottom };
}
