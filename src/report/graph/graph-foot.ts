import { columnsOf } from '../../diagnostics/cells.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { fitLines } from '../layout.ts';
import { xmlElement, xmlText } from '../xml-text.ts';
import type { Point } from './graph-geometry.ts';
import { socketLegends, socketShape } from './graph-socket.ts';
import { graphColors } from './graph-svg-style.ts';
import { type GraphPicture, graphNotes, graphStates, legendOf, moveLines, toneOf } from './graph-words.ts';

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
    if (at.x > x && at.x + needed > x + width) {
      at = { x, y: at.y + line + 2 };
    }
    const text = { class: 'foot', x: at.x + sampleWidth + 8, y: at.y, fill: graphColors.dim };
    const drawn = `${sample(at)}${xmlElement('text', text, xmlText(words))}`;
    at = { x: at.x + needed + 14, y: at.y };
    return drawn;
  });
  return { text: parts.join('\n'), bottom: at.y + line };
}

/** What stands below the drawing: the work of hands, what else is plugged in, the legend. */
export function graphFoot(picture: GraphPicture, room: Room): SetText {
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
