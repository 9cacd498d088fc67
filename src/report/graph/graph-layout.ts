import type { GraphCable, GraphNode, GraphStray } from '../../engine/rack-graph.ts';
import { linkEndText } from '../../model/node.ts';
import { clip, fitLines } from '../page.ts';
import {
  type Box,
  boxAround,
  cableCurve,
  hull,
  type LabelWish,
  type Outlet,
  type PlacedLabel,
  type Point,
  placeLabels,
  pointsOf,
  type Wire,
} from './graph-geometry.ts';
import { cableLabels, type GraphPicture, moveLabels, nodeLines, strayLines, strayTone, toneOf } from './graph-words.ts';

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

/** The edge of a box that has its sockets: the one that looks to the middle of the drawing. */
type SocketEdge = 'top' | 'bottom' | 'left' | 'right';

/** A box of the drawing with its sockets. */
interface Placed {
  readonly box: Box;
  readonly edge: SocketEdge;
  /** The title of the box, in one or more lines. */
  readonly title: readonly string[];
  readonly lines: readonly string[];
}

/** A Mac of the file in its place. */
export interface PlacedNode extends Placed {
  readonly node: GraphNode;
  /** One for each receptacle, in their order. */
  readonly sockets: readonly Outlet[];
}

/** A Mac that is no node, in its place. */
export interface PlacedStray extends Placed {
  readonly stray: GraphStray;
  readonly socket: Outlet;
}

/** All boxes, around the middle at (0, 0). */
interface Ring {
  readonly nodes: readonly PlacedNode[];
  readonly strays: readonly PlacedStray[];
}

/** Sizes that the text of the drawing goes by. */
export const graphSizes = { pitch: 30, titleLine: 20, line: 15, padding: 12, socketDepth: 30 } as const;

const boxWidth = 226;
const titleColumns = 20;
const lineColumns = 30;

type Member =
  | { readonly kind: 'node'; readonly node: GraphNode }
  | { readonly kind: 'stray'; readonly stray: GraphStray };

/** Around the ring every stray comes right behind the node that sees it. */
function membersOf({ nodes, strays }: GraphPicture['graph']): readonly Member[] {
  return nodes.flatMap((node): readonly Member[] => [
    { kind: 'node', node },
    ...strays.filter(({ at }) => at.node === node.name).map((stray) => ({ kind: 'stray', stray }) as const),
  ]);
}

interface BoxSize extends Pick<Box, 'width' | 'height'> {
  /** Of a box whose sockets lie above or below its text. */
  readonly levelHeight: number;
}

/** Four stand in the corners, others around an ellipse from the top on; two beside each other. */
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

/** Which edge looks to the middle; of a box at the far left or right it is that side. */
function edgeTowardsMiddle({ x, y }: Point, count: number, reach: number): SocketEdge {
  if (count === 1) return 'bottom';
  if (Math.abs(y) < reach) return x < 0 ? 'right' : 'left';
  return y < 0 ? 'bottom' : 'top';
}

const outward: Readonly<Record<SocketEdge, Point>> = {
  top: { x: 0, y: -1 },
  bottom: { x: 0, y: 1 },
  left: { x: -1, y: 0 },
  right: { x: 1, y: 0 },
};

/** Evenly along the edge, around its middle. */
function socketsOn(box: Box, edge: SocketEdge, count: number): readonly Outlet[] {
  return Array.from({ length: count }, (_, index) => {
    const offset = (index - (count - 1) / 2) * graphSizes.pitch;
    const isLevel = edge === 'top' || edge === 'bottom';
    const across = edge === 'top' || edge === 'left' ? 0 : 1;
    return {
      x: isLevel ? box.x + box.width / 2 + offset : box.x + box.width * across,
      y: isLevel ? box.y + box.height * across : box.y + box.height / 2 + offset,
      out: outward[edge],
    };
  });
}

interface Texts {
  readonly title: readonly string[];
  readonly lines: readonly string[];
}

const textHeight = ({ title, lines }: Texts): number =>
  title.length * graphSizes.titleLine + lines.length * graphSizes.line + 2 * graphSizes.padding;

/** A name on lines of its own, broken behind its dashes where it is long. */
const nameLines = (name: string): readonly string[] =>
  fitLines(name.replaceAll('-', '- '), titleColumns).map((line) => line.replaceAll('- ', '-'));

function textsOf(member: Member, picture: GraphPicture): Texts {
  if (member.kind === 'node') {
    const { node } = member;
    return {
      title: nameLines(node.name),
      lines: nodeLines(node, picture).flatMap((line) => fitLines(line, lineColumns)),
    };
  }
  const [title, why] = strayLines(member.stray);
  return { title: fitLines(title, titleColumns), lines: fitLines(why, lineColumns) };
}

const socketCount = (member: Member): number => (member.kind === 'node' ? member.node.receptacles.length : 1);

/** The size that every box has: what the fullest of them needs, with its sockets on whichever edge. */
function boxSize(members: readonly Member[], texts: readonly Texts[]): BoxSize {
  const sockets = Math.max(1, ...members.map(socketCount)) * graphSizes.pitch;
  const text = Math.max(0, ...texts.map(textHeight));
  return {
    width: Math.max(boxWidth + graphSizes.socketDepth, sockets + 20),
    height: Math.max(text + graphSizes.socketDepth, sockets + 16),
    levelHeight: text + graphSizes.socketDepth,
  };
}

/** Puts every Mac of the drawing in its place. Boxes never overlap. */
function ringOf(picture: GraphPicture): Ring {
  const members = membersOf(picture.graph);
  const texts = members.map((member) => textsOf(member, picture));
  const size = boxSize(members, texts);
  const places = middles(members.length, size);
  const reach = Math.max(1, ...places.map(({ y }) => Math.abs(y))) * 0.45;
  const nodes: PlacedNode[] = [];
  const strays: PlacedStray[] = [];
  members.forEach((member, index) => {
    const middle = places[index] ?? { x: 0, y: 0 };
    const edge = edgeTowardsMiddle(middle, members.length, reach);
    const isLevel = edge === 'top' || edge === 'bottom';
    const box = boxAround(middle, size.width, isLevel ? size.levelHeight : size.height);
    const placed = { box, edge, ...(texts[index] ?? { title: [], lines: [] }) };
    const [socket, ...others] = socketsOn(box, edge, socketCount(member));
    if (member.kind === 'node') {
      nodes.push({ ...placed, node: member.node, sockets: socket === undefined ? [] : [socket, ...others] });
    } else if (socket !== undefined) {
      strays.push({ ...placed, stray: member.stray, socket });
    }
  });
  return { nodes, strays };
}

/** Where each receptacle is, by `studio-1:2`. */
const outletsOf = ({ nodes }: Ring): ReadonlyMap<string, Outlet> =>
  new Map(
    nodes.flatMap(({ node, sockets }) =>
      node.receptacles.flatMap(({ receptacle }, index) => {
        const socket = sockets[index];
        return socket === undefined ? [] : [[linkEndText({ node: node.name, receptacle }), socket] as const];
      }),
    ),
  );
