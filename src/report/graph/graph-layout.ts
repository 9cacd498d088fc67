import { clip, columnsOf } from '../../diagnostics/cells.ts';
import type { GraphCableState, GraphNode, GraphStray } from '../../engine/rack-graph.ts';
import { linkEndText } from '../../model/node.ts';
import { fitLines } from '../page.ts';
import {
  cableLabels,
  cableStates,
  cableTitle,
  type GraphPicture,
  type GraphTone,
  moveLabels,
  nodeLines,
  strayLines,
  strayTone,
} from './graph-words.ts';

/** A positioned line: a cable, or the line to a Mac outside the file. */
export interface Wire {
  /** Its two ends: `studio-1:2 studio-2:2`. */
  readonly key: string;
  readonly state: GraphCableState | GraphStray['kind'];
  readonly tone: GraphTone;
  readonly stroke: (typeof cableStates)[GraphCableState]['stroke'];
  readonly title: string;
  /** Its label lines, drawn if there is room. */
  readonly texts: readonly string[];
  /** Numbers of the moves that touch this cable. */
  readonly moves: readonly number[];
  readonly curve: Curve;
}

export interface PlacedLabel {
  readonly wire: Wire;
  readonly lines: readonly string[];
  readonly box: Box;
}

/**
 * Positions the rack around the center (0, 0): boxes, cables between their sockets, lines to Macs outside the file
 * (`tails`), and labels where there is room. Also returns the smallest rectangle around everything.
 */
export function graphLayout(picture: GraphPicture) {
  const macs = placedMacs(picture);
  const outlets = outletsOf(macs);
  const cables = cablesOf(picture, outlets);
  const tails = tailsOf(picture, macs, outlets);
  const wires = [...cables, ...tails];
  const boxes = macs.map(({ box }) => withSockets(box));
  const labels = placeLabels(wires, boxes);
  const points = wires.flatMap(({ curve }) => pointsOf(curve));
  const bounds = hull([...boxes, ...labels.map(({ box }) => box), ...points.map((point) => boxAround(point, 12, 12))]);
  return { macs, cables, tails, labels, bounds };
}

type Outlets = ReadonlyMap<string, Outlet>;

/** The position of each receptacle, by keys such as `studio-1:2`. */
const outletsOf = (macs: readonly PlacedMac[]): Outlets =>
  new Map(
    macs.flatMap(({ node, sockets }) =>
      sockets.flatMap((socket, index) => {
        const receptacle = node?.receptacles[index]?.receptacle;
        return node === undefined || receptacle === undefined
          ? []
          : [[linkEndText({ node: node.name, receptacle }), socket] as const];
      }),
    ),
  );

function cablesOf({ graph }: GraphPicture, outlets: Outlets): readonly Wire[] {
  return graph.cables.flatMap((cable) => {
    const { ends, state, moves } = cable;
    const [from, to] = ends.map((end) => outlets.get(linkEndText(end)));
    if (from === undefined || to === undefined) return [];
    const { tone, stroke } = cableStates[state];
    // A missing cable often follows almost the same path as a wrong one, so its curve is different.
    const curve = cableCurve(from, to, state === 'missing' ? 1.7 : 1);
    const [title, texts] = [cableTitle(cable, graph), cableLabels(cable, graph)];
    return [{ key: ends.map(linkEndText).join(' '), state, tone, stroke, title, texts, moves, curve }];
  });
}

function tailsOf({ graph }: GraphPicture, macs: readonly PlacedMac[], outlets: Outlets): readonly Wire[] {
  return macs.flatMap(({ stray, sockets: [socket] }) => {
    const key = stray === undefined ? '' : linkEndText(stray.at);
    const from = outlets.get(key);
    if (stray === undefined || socket === undefined || from === undefined) return [];
    const { kind: state, moves } = stray;
    const style = { state, tone: strayTone(stray), stroke: 'solid' } as const;
    const [title, texts] = [`${key} sees ${strayLines(stray).join(', ')}`, moveLabels(graph, moves)];
    return [{ key, ...style, title, texts, moves, curve: cableCurve(from, socket) }];
  });
}

/** A box including its sockets, which extend beyond the edge. */
const withSockets = ({ x, y, width, height }: Box): Box => {
  const depth = graphSizes.socketDepth / 2;
  return { x: x - depth, y: y - depth, width: width + 2 * depth, height: height + 2 * depth };
};

const labelColumns = [26, 18];
const longestLabel = 220;

/** The variants of a label from longest to shortest; the shortest contains only the move numbers. */
function labelForms({ texts, moves }: Wire): readonly (readonly string[])[] {
  if (texts.length === 0) return [];
  const forms = labelColumns.map((columns) => texts.flatMap((text) => fitLines(clip(text, longestLabel), columns)));
  return [...forms, ...(moves.length === 0 ? [] : [[moves.join(', ')]])];
}

/**
 * Places each label on its line without touching a box or another label. Moves come first, when there is most room. If
 * a label does not fit, its shorter variants are tried. If none fits, only the list below the drawing has the text.
 */
function placeLabels(wires: readonly Wire[], boxes: readonly Box[]): readonly PlacedLabel[] {
  const placed: PlacedLabel[] = [];
  for (const wire of wires.toSorted((a, b) => Number(b.moves.length > 0) - Number(a.moves.length > 0))) {
    const others = wires.filter((one) => one !== wire).flatMap(({ curve }) => pointsOf(curve));
    const taken = [...boxes, ...placed.map(({ box }) => box)];
    const fitting = labelForms(wire).flatMap((lines) => {
      const box = bestPlace(wire.curve, lines, taken, others);
      return box === undefined ? [] : [{ wire, lines, box }];
    });
    placed.push(...fitting.slice(0, 1));
  }
  return placed;
}

/** The edge with the sockets, which faces the center of the drawing. */
type SocketEdge = 'top' | 'bottom' | 'left' | 'right';

/** A Mac in the drawing: a node, or a Mac outside the file. */
interface Mac {
  readonly node?: GraphNode;
  readonly stray?: GraphStray;
  readonly title: readonly string[];
  readonly lines: readonly string[];
}

export interface PlacedMac extends Mac {
  readonly box: Box;
  readonly edge: SocketEdge;
  /** A node's sockets, one per receptacle, in order. */
  readonly sockets: readonly Outlet[];
}

export const graphSizes = { pitch: 30, titleLine: 20, line: 15, padding: 12, socketDepth: 30 } as const;

const boxWidth = 226;
const titleColumns = 20;
const lineColumns = 30;

/** A Mac outside the file comes directly after the node that sees it. */
function macsOf(picture: GraphPicture): readonly Mac[] {
  const { nodes, strays } = picture.graph;
  return nodes.flatMap((node): readonly Mac[] => [
    {
      node,
      // Long names break after dashes.
      title: fitLines(node.name.replaceAll('-', '- '), titleColumns).map((line) => line.replaceAll('- ', '-')),
      lines: nodeLines(node, picture).flatMap((line) => fitLines(line, lineColumns)),
    },
    ...strays
      .filter(({ at }) => at.node === node.name)
      .map((stray) => {
        const [title, why] = strayLines(stray);
        return { stray, title: fitLines(title, titleColumns), lines: fitLines(why, lineColumns) };
      }),
  ]);
}

interface BoxSize extends Pick<Box, 'width' | 'height'> {
  /** The height of a box whose sockets are above or below the text. */
  readonly levelHeight: number;
}

/** The boxes' centers: two side by side, four in the corners, other numbers around an ellipse from the top. */
function middles(count: number, size: BoxSize): readonly Point[] {
  const at = (x: number, y: number): Point => ({ x, y });
  const [wide, high] = [size.width, size.height];
  switch (count) {
    case 1:
      return [at(0, 0)];
    case 2:
      return [at(-wide - 130, 0), at(wide + 130, 0)];
    case 4: {
      const [x, y] = [wide * 0.5 + 200, size.levelHeight * 0.5 + 190];
      return [at(-x, -y), at(x, -y), at(x, y), at(-x, y)];
    }
    default: {
      const rx = Math.max(wide + 70 + 30 * count, (wide + 40) * count * 0.17);
      const ry = Math.max(high + 110 + 24 * count, (high + 40) * count * 0.17);
      return Array.from({ length: count }, (_, index) => {
        const angle = (index / count) * 2 * Math.PI - Math.PI / 2;
        return at(rx * Math.cos(angle), ry * Math.sin(angle));
      });
    }
  }
}

/** The edge that faces the center. For boxes near the horizontal axis this is the left or right edge. */
function edgeTowardsMiddle({ x, y }: Point, count: number, reach: number): SocketEdge {
  if (count === 1) return 'bottom';
  if (Math.abs(y) < reach) return x < 0 ? 'right' : 'left';
  return y < 0 ? 'bottom' : 'top';
}

const isLevel = (edge: SocketEdge): boolean => edge === 'top' || edge === 'bottom';

const outward: Readonly<Record<SocketEdge, Point>> = {
  top: { x: 0, y: -1 },
  bottom: { x: 0, y: 1 },
  left: { x: -1, y: 0 },
  right: { x: 1, y: 0 },
};

function socketsOn(box: Box, edge: SocketEdge, count: number): readonly Outlet[] {
  return Array.from({ length: count }, (_, index) => {
    const offset = (index - (count - 1) / 2) * graphSizes.pitch;
    const across = edge === 'top' || edge === 'left' ? 0 : 1;
    return {
      x: isLevel(edge) ? box.x + box.width / 2 + offset : box.x + box.width * across,
      y: isLevel(edge) ? box.y + box.height * across : box.y + box.height / 2 + offset,
      out: outward[edge],
    };
  });
}

const textHeight = ({ title, lines }: Mac): number =>
  title.length * graphSizes.titleLine + lines.length * graphSizes.line + 2 * graphSizes.padding;

const socketCount = ({ node }: Mac): number => (node === undefined ? 1 : node.receptacles.length);

/** The common size of all boxes, large enough for the fullest box with sockets on any edge. */
function boxSize(macs: readonly Mac[]): BoxSize {
  const sockets = Math.max(1, ...macs.map(socketCount)) * graphSizes.pitch;
  const text = Math.max(0, ...macs.map(textHeight));
  return {
    width: Math.max(boxWidth + graphSizes.socketDepth, sockets + 20),
    height: Math.max(text + graphSizes.socketDepth, sockets + 16),
    levelHeight: text + graphSizes.socketDepth,
  };
}

/** Positions every Mac. Boxes never overlap. */
function placedMacs(picture: GraphPicture): readonly PlacedMac[] {
  const macs = macsOf(picture);
  const size = boxSize(macs);
  const places = middles(macs.length, size);
  const reach = Math.max(1, ...places.map(({ y }) => Math.abs(y))) * 0.45;
  return macs.map((mac, index) => {
    const middle = places[index] ?? { x: 0, y: 0 };
    const edge = edgeTowardsMiddle(middle, macs.length, reach);
    const box = boxAround(middle, size.width, isLevel(edge) ? size.levelHeight : size.height);
    return { ...mac, box, edge, sockets: socketsOn(box, edge, socketCount(mac)) };
  });
}

/** A point in drawing units; y grows downwards. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A rectangle, positioned by its upper left corner. */
export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

/** A cubic Bézier curve. */
export interface Curve {
  readonly from: Point;
  readonly fromControl: Point;
  readonly toControl: Point;
  readonly to: Point;
}

/** The point where a cable leaves a box, with the unit vector that points away from the box. */
export interface Outlet extends Point {
  readonly out: Point;
}

const along = (from: Outlet, distance: number): Point => ({
  x: from.x + from.out.x * distance,
  y: from.y + from.out.y * distance,
});

/** The straight share of a cable's length; smaller if its ends point in the same or opposite directions. */
const straightPart = (a: Point, b: Point): number => (Math.abs(a.x * b.x + a.y * b.y) > 0.5 ? 0.22 : 0.34);

/** The distance by which the other socket is ahead of this one, in this one's direction. */
const ahead = (of: Outlet, other: Point): number =>
  Math.max(0, (other.x - of.x) * of.out.x + (other.y - of.y) * of.out.y);

/** A cable's curve, straight at both sockets. A `bend` other than 1 separates cables between the same boxes. */
function cableCurve(from: Outlet, to: Outlet, bend = 1): Curve {
  const distance = Math.hypot(to.x - from.x, to.y - from.y);
  const reach = bend * Math.min(240, Math.max(46, distance * straightPart(from.out, to.out)));
  // If both sockets point the same way, the rear end first runs level with the front one, around the other case.
  const isBeside = from.out.x * to.out.x + from.out.y * to.out.y > 0.5;
  const [more, less] = isBeside ? [ahead(from, to), ahead(to, from)] : [0, 0];
  return { from, fromControl: along(from, reach + more), toControl: along(to, reach + less), to };
}

/** The point of a curve at `t`, from 0 to 1. */
function pointAt({ from, fromControl, toControl, to }: Curve, t: number): Point {
  const s = 1 - t;
  const mix = (a: number, b: number, c: number, d: number): number =>
    s * s * s * a + 3 * s * s * t * b + 3 * s * t * t * c + t * t * t * d;
  return { x: mix(from.x, fromControl.x, toControl.x, to.x), y: mix(from.y, fromControl.y, toControl.y, to.y) };
}

/** Points along a curve, including both ends. */
export const pointsOf = (curve: Curve, count = 24): readonly Point[] =>
  Array.from({ length: count + 1 }, (_, index) => pointAt(curve, index / count));

/** True if two rectangles overlap or are closer than `gap`. */
export const overlap = (a: Box, b: Box, gap = 0): boolean =>
  a.x < b.x + b.width + gap && b.x < a.x + a.width + gap && a.y < b.y + b.height + gap && b.y < a.y + a.height + gap;

/** True if a point is inside a rectangle or closer to it than `gap`. */
export const contains = (box: Box, { x, y }: Point, gap = 0): boolean =>
  x > box.x - gap && x < box.x + box.width + gap && y > box.y - gap && y < box.y + box.height + gap;

const boxAround = ({ x, y }: Point, width: number, height: number): Box => ({
  x: x - width / 2,
  y: y - height / 2,
  width,
  height,
});

/** The smallest rectangle around all these boxes; an empty rectangle at the origin if there are none. */
function hull(boxes: readonly Box[]): Box {
  if (boxes.length === 0) return { x: 0, y: 0, width: 0, height: 0 };
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}

/** A label's line height, and its column width in the widest common font. */
export const labelSizes = { line: 15, column: 7, padding: 6 } as const;

function sizeOf(lines: readonly string[]): Pick<Box, 'width' | 'height'> {
  const columns = Math.max(0, ...lines.map(columnsOf));
  return {
    width: columns * labelSizes.column + 2 * labelSizes.padding,
    height: lines.length * labelSizes.line + labelSizes.padding,
  };
}

/** Positions to try along the cable, from its middle outwards. */
const places: readonly number[] = Array.from(
  { length: 33 },
  (_, index) => 0.5 + (index % 2 === 0 ? 1 : -1) * Math.ceil(index / 2) * 0.025,
);

/** The position where a label covers the least of other cables; undefined if all positions touch an occupied box. */
function bestPlace(
  curve: Curve,
  lines: readonly string[],
  taken: readonly Box[],
  others: readonly Point[],
): Box | undefined {
  const { width, height } = sizeOf(lines);
  const free = places
    .map((t) => ({ t, box: boxAround(pointAt(curve, t), width, height) }))
    .filter(({ box }) => !taken.some((one) => overlap(one, box, 6)))
    .map(({ t, box }) => ({
      box,
      cost: others.filter((point) => contains(box, point)).length + Math.abs(t - 0.5) * 8,
    }));
  const [best] = free.toSorted((a, b) => a.cost - b.cost);
  return best?.box;
}
