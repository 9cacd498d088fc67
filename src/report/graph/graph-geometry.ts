import { columnsOf } from '../../diagnostics/cells.ts';
import type { GraphTone } from './graph-words.ts';

/** A point of the drawing, in its own units; y grows downwards. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** An upright rectangle by its upper left corner. */
export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

/** A cubic curve. */
export interface Curve {
  readonly from: Point;
  readonly fromControl: Point;
  readonly toControl: Point;
  readonly to: Point;
}

/** A place where a cable leaves a box, and the unit vector that points away from the box there. */
export interface Outlet extends Point {
  readonly out: Point;
}

const along = (from: Outlet, distance: number): Point => ({
  x: from.x + from.out.x * distance,
  y: from.y + from.out.y * distance,
});

/** How far a cable runs straight, as a part of its length: far where it has to come around, little where it may turn back. */
const straightParts = { facing: 0.22, across: 0.34, beside: 0.22 } as const;

function straightPart(a: Point, b: Point): number {
  const turn = a.x * b.x + a.y * b.y;
  if (turn < -0.5) return straightParts.facing;
  return turn > 0.5 ? straightParts.beside : straightParts.across;
}

/** How far the other socket lies ahead of this one, along its way out. */
const ahead = (of: Outlet, other: Point): number =>
  Math.max(0, (other.x - of.x) * of.out.x + (other.y - of.y) * of.out.y);

/**
 * The way of a cable: it leaves both sockets straight, and bends the more the farther they are apart. With another
 * `bend` than 1 it takes another way than a cable between the same boxes.
 */
export function cableCurve(from: Outlet, to: Outlet, bend = 1): Curve {
  const distance = Math.hypot(to.x - from.x, to.y - from.y);
  const reach = bend * Math.min(240, Math.max(46, distance * straightPart(from.out, to.out)));
  // Of two that look the same way, the one behind goes on until it is level, and so comes around the case of the other.
  const isBeside = from.out.x * to.out.x + from.out.y * to.out.y > 0.5;
  const [more, less] = isBeside ? [ahead(from, to), ahead(to, from)] : [0, 0];
  return { from, fromControl: along(from, reach + more), toControl: along(to, reach + less), to };
}

/** The point of a curve at `t` from 0 to 1. */
function pointAt({ from, fromControl, toControl, to }: Curve, t: number): Point {
  const s = 1 - t;
  const mix = (a: number, b: number, c: number, d: number): number =>
    s * s * s * a + 3 * s * s * t * b + 3 * s * t * t * c + t * t * t * d;
  return { x: mix(from.x, fromControl.x, toControl.x, to.x), y: mix(from.y, fromControl.y, toControl.y, to.y) };
}

/** Points all along a curve, both its ends among them. */
export const pointsOf = (curve: Curve, count = 24): readonly Point[] =>
  Array.from({ length: count + 1 }, (_, index) => pointAt(curve, index / count));

/** Whether two rectangles have more than an edge in common, or less than `gap` between them. */
export const overlap = (a: Box, b: Box, gap = 0): boolean =>
  a.x < b.x + b.width + gap && b.x < a.x + a.width + gap && a.y < b.y + b.height + gap && b.y < a.y + a.height + gap;

/** Whether a point is inside, or less than `gap` beside a rectangle. */
export const contains = (box: Box, { x, y }: Point, gap = 0): boolean =>
  x > box.x - gap && x < box.x + box.width + gap && y > box.y - gap && y < box.y + box.height + gap;

/** The rectangle of this size around a point. */
export const boxAround = ({ x, y }: Point, width: number, height: number): Box => ({
  x: x - width / 2,
  y: y - height / 2,
  width,
  height,
});

/** The smallest rectangle that has all of these inside; empty at the origin when there are none. */
export function hull(boxes: readonly Box[]): Box {
  if (boxes.length === 0) return { x: 0, y: 0, width: 0, height: 0 };
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}

/** A line of the drawing in its place. */
export interface Wire {
  /** Its ends in words. */
  readonly key: string;
  readonly tone: GraphTone;
  readonly curve: Curve;
}

/** What is written on a line, where. */
export interface PlacedLabel {
  readonly wire: Wire;
  readonly lines: readonly string[];
  readonly box: Box;
}

/** Height of a line of a label, and how wide a column of it may be in the widest common font. */
export const labelSizes = { line: 15, column: 7, padding: 6 } as const;

/** The size of a text of these lines with its frame. */
function sizeOf(lines: readonly string[]): Pick<Box, 'width' | 'height'> {
  const columns = Math.max(0, ...lines.map(columnsOf));
  return {
    width: columns * labelSizes.column + 2 * labelSizes.padding,
    height: lines.length * labelSizes.line + labelSizes.padding,
  };
}

/** From the middle of the cable outwards. */
const places: readonly number[] = Array.from(
  { length: 33 },
  (_, index) => 0.5 + (index % 2 === 0 ? 1 : -1) * Math.ceil(index / 2) * 0.025,
);

interface Surroundings {
  /** Boxes that no text may touch. */
  readonly taken: readonly Box[];
  /** Points of the other cables, which a label had better not cover. */
  readonly others: readonly { readonly x: number; readonly y: number }[];
}

/** The place on the cable where its text covers least; undefined when it would touch something everywhere. */
function bestPlace(curve: Curve, lines: readonly string[], { taken, others }: Surroundings): Box | undefined {
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

/** What may be written on a line, the fullest form first. */
export interface LabelWish {
  readonly wire: Wire;
  readonly forms: readonly (readonly string[])[];
}

/**
 * Finds a place on its own cable for every text, so that none touches a box or another text. A text for which there is
 * no room takes its next form; where none fits, nothing is written there: the list below the drawing has it.
 */
export function placeLabels(
  wishes: readonly LabelWish[],
  wires: readonly Wire[],
  boxes: readonly Box[],
): readonly PlacedLabel[] {
  const placed: PlacedLabel[] = [];
  for (const { wire, forms } of wishes) {
    const others = wires.filter((one) => one !== wire).flatMap(({ curve }) => pointsOf(curve));
    const taken = [...boxes, ...placed.map(({ box }) => box)];
    const fitting = forms.flatMap((lines) => {
      const box = bestPlace(wire.curve, lines, { taken, others });
      return box === undefined ? [] : [{ wire, lines, box }];
    });
    placed.push(...fitting.slice(0, 1));
  }
  return placed;
}
