import { columnsOf } from '../../diagnostics/cells.ts';
import { type Box, boxAround, type Curve, contains, overlap, pointAt, pointsOf } from './graph-geometry.ts';
import type { GraphTone } from './graph-words.ts';

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
