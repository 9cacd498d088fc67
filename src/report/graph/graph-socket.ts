import { escapeText } from '../../diagnostics/escape.ts';
import type { GraphReceptacle } from '../../engine/graph/graph-receptacles.ts';
import { xmlElement, xmlText } from '../xml-text.ts';
import type { Outlet } from './graph-geometry.ts';
import { graphColors } from './graph-svg-style.ts';
import type { GraphTone } from './graph-words.ts';

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
export function socketSvg(name: string, receptacle: GraphReceptacle, socket: Outlet): string {
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
