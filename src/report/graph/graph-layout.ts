import type { GraphCable } from '../../engine/graph/graph-cables.ts';
import { linkEndText } from '../../model/link.ts';
import { clip, fitLines } from '../layout.ts';
import { type Box, boxAround, cableCurve, hull, type Outlet, pointsOf } from './graph-geometry.ts';
import { type LabelWish, type PlacedLabel, placeLabels, type Wire } from './graph-labels.ts';
import { graphSizes, outletsOf, type PlacedStray, type Ring, ringOf } from './graph-ring.ts';
import { cableLabels, type GraphPicture, moveLabels, strayTone, toneOf } from './graph-words.ts';

/** A cable in its place. */
export interface PlacedCable extends Wire {
  readonly cable: GraphCable;
}

/** The way of the cable to a Mac that is no node. */
export interface PlacedTail extends Wire {
  readonly placed: PlacedStray;
}

/** Everything of the rack in its place; the page around it is not there yet. */
export interface GraphLayout {
  readonly ring: Ring;
  readonly cables: readonly PlacedCable[];
  readonly tails: readonly PlacedTail[];
  readonly labels: readonly PlacedLabel[];
  /** The smallest rectangle that has all of it inside. */
  readonly bounds: Box;
}

const labelColumns = [26, 18];
const longestLabel = 220;

/** What is missing often goes from where a wrong cable goes, to nearly where it goes: it takes a way of its own. */
const bendOf = ({ isSeen, state }: GraphCable): number => (isSeen || state !== 'missing' ? 1 : 1.7);

function placedCables({ graph }: GraphPicture, outlets: ReadonlyMap<string, Outlet>): readonly PlacedCable[] {
  return graph.cables.flatMap((cable) => {
    const [from, to] = cable.ends.map((end) => outlets.get(linkEndText(end)));
    const key = cable.ends.map(linkEndText).join(' ');
    return from === undefined || to === undefined
      ? []
      : [{ cable, key, tone: toneOf(cable.state), curve: cableCurve(from, to, bendOf(cable)) }];
  });
}

function placedTails({ strays }: Ring, outlets: ReadonlyMap<string, Outlet>): readonly PlacedTail[] {
  return strays.flatMap((placed) => {
    const key = linkEndText(placed.stray.at);
    const from = outlets.get(key);
    const tone = strayTone(placed.stray);
    return from === undefined ? [] : [{ placed, key, tone, curve: cableCurve(from, placed.socket) }];
  });
}

/** Texts on several lines; where there is no room for them, narrower, and last the numbers of the moves alone. */
function wish(wire: Wire, texts: readonly string[], moves: readonly number[]): readonly LabelWish[] {
  const forms = labelColumns.map((columns) => texts.flatMap((text) => fitLines(clip(text, longestLabel), columns)));
  const numbers = moves.length === 0 ? [] : [[moves.join(', ')]];
  return texts.length === 0 ? [] : [{ wire, forms: [...forms, ...numbers] }];
}

/** What is to be written on every line: first what hands have to do, while there is most room. */
function wishes(
  { graph }: GraphPicture,
  cables: readonly PlacedCable[],
  tails: readonly PlacedTail[],
): readonly LabelWish[] {
  const moved = (one: { readonly moves: readonly number[] }): boolean => one.moves.length > 0;
  const ofCables = cables.map((one) => ({
    ...one.cable,
    wish: wish(one, cableLabels(one.cable, graph), one.cable.moves),
  }));
  const ofTails = tails.map((one) => {
    const { moves } = one.placed.stray;
    return { moves, wish: wish(one, moveLabels(graph, moves), moves) };
  });
  return [...ofCables, ...ofTails].toSorted((a, b) => Number(moved(b)) - Number(moved(a))).flatMap((one) => one.wish);
}

/** A box with its sockets, which stand a little over its edge. */
const withSockets = ({ x, y, width, height }: Box): Box => {
  const depth = graphSizes.socketDepth / 2;
  return { x: x - depth, y: y - depth, width: width + 2 * depth, height: height + 2 * depth };
};

/** Puts the rack on the plane: boxes around the middle, cables between their sockets, texts where there is room. */
export function graphLayout(picture: GraphPicture): GraphLayout {
  const ring = ringOf(picture);
  const outlets = outletsOf(ring);
  const cables = placedCables(picture, outlets);
  const tails = placedTails(ring, outlets);
  const boxes = [...ring.nodes, ...ring.strays].map(({ box }) => withSockets(box));
  const labels = placeLabels(wishes(picture, cables, tails), [...cables, ...tails], boxes);
  const curves = [...cables, ...tails].flatMap(({ curve }) => pointsOf(curve));
  return {
    ring,
    cables,
    tails,
    labels,
    bounds: hull([...boxes, ...labels.map(({ box }) => box), ...curves.map((point) => boxAround(point, 12, 12))]),
  };
}
