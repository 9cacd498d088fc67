import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { proseText, type Reader } from '../../diagnostics/prose-text.ts';
import type {
  GraphCable,
  GraphCableState,
  GraphNode,
  GraphReceptacle,
  GraphStray,
  RackGraph,
} from '../../engine/rack-graph.ts';
import { groupBy } from '../../model/lists.ts';
import { linkEndText } from '../../model/node.ts';
import { subjectText } from '../../model/subject.ts';
import { speedText } from '../../model/text/units.ts';
import type { PlacementState } from '../../rack/placement/check/placement-survey.ts';
import { clip, counted } from '../page.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for XML, in an element or in quotes: what is not plainly visible is written as `\u{…}`, so it is always well formed. */
export const xmlText = (text: string): string =>
  escapeText(text).replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** What is drawn, in whichever form. */
export interface GraphPicture {
  readonly graph: RackGraph;
  /** As they are written on their nodes; without a state where nobody looked. */
  readonly placements: readonly {
    readonly name: string;
    readonly nodes: readonly string[];
    readonly state?: PlacementState;
  }[];
  readonly isSimulated: boolean;
  /** What is to be told before anything else, a sentence or two each; not escaped. */
  readonly warnings: readonly string[];
}

/** A finding that is to be told before anything else, on one line. */
export const alarmText = ({ summary, subject, hint }: Diagnostic, reader: Reader): string =>
  `${summary}${subject === undefined ? '' : ` ${subjectText(subject)}:`} ${proseText(hint, reader)}`;

/** How a line is drawn: `bad` needs hands, `extra` is not in the file and harms nobody. */
export type GraphTone = 'good' | 'plan' | 'bad' | 'extra' | 'open';

/** The colors of a drawing on a light page, by what they are for. Those of the tones are legible on a dark page, too. */
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

interface CableWords {
  readonly tone: GraphTone;
  readonly stroke: 'solid' | 'dashed' | 'dotted';
  /** Written on the line where no move is; empty for what is as it should be. */
  readonly label: string;
  readonly legend: string;
}

/** How a cable in each state is drawn, and what it means, in the order of the legend. */
export const cableStates: Readonly<Record<GraphCableState, CableWords>> = {
  'as-declared': { tone: 'good', stroke: 'solid', label: '', legend: 'in the file, and seen' },
  declared: { tone: 'plan', stroke: 'dashed', label: '', legend: 'in the file; nobody looked' },
  slow: { tone: 'bad', stroke: 'solid', label: 'slow', legend: 'slow: no RDMA below 80 Gb/s' },
  'through-hub': { tone: 'bad', stroke: 'solid', label: 'through a hub', legend: 'through a dock or hub' },
  'one-sided': { tone: 'bad', stroke: 'solid', label: 'seen from one end only', legend: 'seen from one end only' },
  missing: { tone: 'bad', stroke: 'dashed', label: 'missing', legend: 'in the file, and not seen' },
  wrong: { tone: 'bad', stroke: 'solid', label: 'wrong', legend: 'seen, in the place of another' },
  undeclared: { tone: 'extra', stroke: 'solid', label: 'not in the file', legend: 'seen, not in the file' },
  unknown: { tone: 'open', stroke: 'dotted', label: '?', legend: '? nobody can say' },
};

interface SocketWords {
  readonly tone?: GraphTone;
  /** Whether something is plugged in. */
  readonly isFull: boolean;
  /** One character wide; empty for what is as usual. */
  readonly sign: string;
  /** What the sign means, where that has to be explained. */
  readonly legend: string;
}

/** How a receptacle is drawn by what is seen in it, in the order of the legend. */
export const socketSights: Readonly<Record<GraphReceptacle['sight'], SocketWords>> = {
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

/** How the line to a Mac that is no node is drawn. */
export const strayTone = ({ isInTheWay }: GraphStray): GraphTone => (isInTheWay ? 'bad' : 'extra');

/** `1. move the cable end in studio-4 receptacle 3 to receptacle 4`, as it is written on a cable, for these numbers. */
export const moveLabels = ({ moves }: RackGraph, numbers: readonly number[]): readonly string[] =>
  moves
    .filter(({ number }) => numbers.includes(number))
    .map(({ number, text, first }) =>
      escapeText(`${number}. ${text}${first === undefined ? '' : '; not yet, see below'}`),
    );

/** Every move, in the order in which they are made, with what has to be done before each. */
export const moveLines = ({ moves }: RackGraph): readonly string[] =>
  moves.map(({ number, text, first }) =>
    escapeText(`${number}. ${first === undefined ? '' : `first ${first}; then `}${text}`),
  );

/** What is written on a cable, a text each: what is wrong with it, and the moves that touch it; often nothing. */
export function cableLabels({ state, moves, bitsPerSecond }: GraphCable, graph: RackGraph): readonly string[] {
  const acts = moveLabels(graph, moves);
  // A move says by itself that a cable is missing, or in a wrong place.
  if (acts.length > 0 && (state === 'missing' || state === 'wrong' || state === 'undeclared')) return acts;
  const { label } = cableStates[state];
  const speed = state === 'slow' && bitsPerSecond !== undefined ? `: ${speedText(bitsPerSecond)}` : '';
  return [...(label === '' ? [] : [`${label}${speed}`]), ...acts];
}

/** `studio-1:2 <-> studio-2:2: in the file, and seen (80 Gb/s)`, with what is to be done about it. */
export function cableTitle(cable: GraphCable, graph: RackGraph): string {
  const [a, b] = cable.ends;
  const speed = cable.bitsPerSecond === undefined ? '' : ` (${speedText(cable.bitsPerSecond)})`;
  const todo = moveLabels(graph, cable.moves)
    .map((line) => `; ${line}`)
    .join('');
  return `${linkEndText(a)} <-> ${linkEndText(b)}: ${cableStates[cable.state].legend}${speed}${todo}`;
}

const strayKinds: Readonly<Record<GraphStray['kind'], string>> = {
  foreign: 'not in the file',
  unidentified: 'unidentified: perhaps a node',
  ambiguous: 'two nodes claim to be it',
};

/** A Mac that is no node, in two lines: what it calls itself, and why it is here. */
export function strayLines({ kind, model, hubsBetween, isInTheWay }: GraphStray): readonly [string, string] {
  const hub = hubsBetween > 0 ? ', behind a hub' : '';
  const way = isInTheWay ? ', in the place of another' : '';
  return [clip(`Mac: ${escapeText(model)}`, 28), `${strayKinds[kind]}${hub}${way}`];
}

/**
 * The faces of the case with their receptacles: by number where every place is known, else counted, with the known places
 * below. A place that only names its face adds nothing to the count.
 */
function placeLines({ faces, receptacles }: GraphNode): readonly string[] {
  const places = receptacles.flatMap(({ place }) => (place?.column === undefined ? [] : [place]));
  if (places.length < receptacles.length || places.length === 0) {
    const single = places.map(({ receptacle, words }) => `${receptacle}: ${words}`);
    return faces === undefined ? single : [faces, ...single];
  }
  const sides = groupBy(
    places.toSorted((a, b) => (a.column ?? 0) - (b.column ?? 0)),
    ({ side }) => side,
  );
  const rows = [...sides].map(([side, row]) => `${side} ${row.map(({ receptacle }) => receptacle).join(' ')}`);
  return [`left to right: ${rows.join(', ')}`];
}

/** The lines below the name of a node: its model, its sockets and the places of them that are known, its placements. */
export function nodeLines(node: GraphNode, { graph, placements }: GraphPicture): readonly string[] {
  const model = node.modelName ?? node.model;
  const own = placements.filter((placement) => placement.nodes.includes(node.name));
  return [
    ...(node.isSeen || graph.isDeclaredOnly ? [] : ['could not be looked at']),
    ...(model === undefined ? [] : [escapeText(model)]),
    ...placeLines(node),
    ...own.map(({ name, state }) => (state === undefined ? name : `${name}: ${state}`)),
  ];
}

/** `4 nodes, 6 cables in the file, 1 move of hands`. */
export function graphSummary({ graph }: GraphPicture): string {
  const declared = graph.cables.filter((cable) => cable.isDeclared).length;
  const right = graph.cables.filter((cable) => cable.state === 'as-declared').length;
  const seen = graph.isDeclaredOnly ? 'nobody looked' : `${right} as declared`;
  const moves = graph.moves.length === 0 ? [] : [counted(graph.moves.length, 'move')];
  return [counted(graph.nodes.length, 'node'), `${counted(declared, 'cable')} in the file`, seen, ...moves].join(', ');
}

/** What is plugged in and is no Mac, one line for each receptacle. */
export const graphNotes = ({ graph }: GraphPicture): readonly string[] =>
  graph.nodes.flatMap(({ name, receptacles }) =>
    receptacles
      .filter(({ sight, sees }) => (sight === 'device' || sight === 'silent') && sees !== undefined)
      .map(({ receptacle, sees }) => `${name}:${receptacle} sees ${escapeText(sees ?? '')}`),
  );
