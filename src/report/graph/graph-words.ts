import { clip } from '../../diagnostics/cells.ts';
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
import type { MeshState } from '../../rack/placement/state/mesh-reading.ts';
import { measuredText } from '../measured-cables.ts';
import { counted } from '../page.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for XML elements and attributes. Invisible characters become `\u{…}`, so the XML is always well formed. */
export const xmlText = (text: string): string =>
  escapeText(text).replace(/[&<>"']/g, (character) => entities[character] ?? '');

export interface GraphPicture {
  readonly graph: RackGraph;
  /** Shown on their nodes; without a state if the placement was not checked. */
  readonly placements: readonly {
    readonly name: string;
    readonly nodes: readonly string[];
    readonly state?: MeshState;
  }[];
  readonly isSimulated: boolean;
  /** Alarms shown before anything else, each in one or two sentences; unescaped. */
  readonly warnings: readonly string[];
}

export const alarmText = ({ summary, subject, hint }: Diagnostic, reader: Reader): string =>
  `${summary}${subject === undefined ? '' : ` ${subjectText(subject)}:`} ${proseText(hint, reader)}`;

/** A line's style: `bad` needs a manual step; `extra` is not in the file and harmless. */
export type GraphTone = 'good' | 'plan' | 'bad' | 'extra' | 'open';

/** Colors for a light page, by purpose. The tone colors are also legible on a dark page. */
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
  /** Shown on the line if there is no move; empty if the cable matches the file. */
  readonly label: string;
  readonly legend: string;
}

/** In legend order. */
export const cableStates: Readonly<Record<GraphCableState, CableWords>> = {
  'as-declared': { tone: 'good', stroke: 'solid', label: '', legend: 'in the file and seen' },
  declared: { tone: 'plan', stroke: 'dashed', label: '', legend: 'in the file, not checked' },
  slow: { tone: 'bad', stroke: 'solid', label: 'slow', legend: 'slow: no RDMA below 80 Gb/s' },
  'through-hub': { tone: 'bad', stroke: 'solid', label: 'through a hub', legend: 'through a dock or hub' },
  'one-sided': { tone: 'bad', stroke: 'solid', label: 'seen from one end only', legend: 'seen from one end only' },
  missing: { tone: 'bad', stroke: 'dashed', label: 'missing', legend: 'in the file, not seen' },
  wrong: { tone: 'bad', stroke: 'solid', label: 'wrong', legend: 'seen in the wrong place' },
  undeclared: { tone: 'extra', stroke: 'solid', label: 'not in the file', legend: 'seen, not in the file' },
  unknown: { tone: 'open', stroke: 'dotted', label: '?', legend: '? unknown' },
};

interface SocketWords {
  readonly tone?: GraphTone;
  /** True if something is plugged in. */
  readonly isFull: boolean;
  /** One character; empty for normal states. */
  readonly sign: string;
  /** The meaning of the sign; empty if the sign needs no explanation. */
  readonly legend: string;
}

/** In legend order. */
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
  silent: { tone: 'open', isFull: true, sign: '!', legend: 'a device that does not answer' },
  unknown: { tone: 'open', isFull: false, sign: '?', legend: 'unknown' },
  empty: { isFull: false, sign: '', legend: '' },
  free: { isFull: false, sign: '', legend: '' },
};

/** The tone of the line to a Mac outside the file. */
export const strayTone = ({ isInTheWay }: GraphStray): GraphTone => (isInTheWay ? 'bad' : 'extra');

/** The labels on a cable for these moves: `1. move the cable end in studio-4 receptacle 3 to receptacle 4`. */
export const moveLabels = ({ moves }: RackGraph, numbers: readonly number[]): readonly string[] =>
  moves
    .filter(({ number }) => numbers.includes(number))
    .map(({ number, text, first }) =>
      escapeText(`${number}. ${text}${first === undefined ? '' : '; not yet, see below'}`),
    );

export const moveLines = ({ moves }: RackGraph): readonly string[] =>
  moves.map(({ number, text, first }) =>
    escapeText(`${number}. ${first === undefined ? '' : `first ${first}; then `}${text}`),
  );

/** A run that could not measure the cable says nothing about it. */
const measuredWords = (measured: GraphCable['measured']): readonly string[] =>
  measured === undefined || measured.cable.verdict === 'unknown' ? [] : [measuredText(measured)];

/** A cable's labels: its problem, its newest measurement, and the moves that affect it; often empty. */
export function cableLabels(
  { state, moves, bitsPerSecond, measured }: GraphCable,
  graph: RackGraph,
): readonly string[] {
  const acts = moveLabels(graph, moves);
  // The move already implies that a cable is missing, undeclared or in the wrong place.
  if (acts.length > 0 && (state === 'missing' || state === 'wrong' || state === 'undeclared')) return acts;
  const { label } = cableStates[state];
  const speed = state === 'slow' && bitsPerSecond !== undefined ? `: ${speedText(bitsPerSecond)}` : '';
  return [...(label === '' ? [] : [`${label}${speed}`]), ...measuredWords(measured), ...acts];
}

/** `studio-1:2 <-> studio-2:2: in the file and seen (80 Gb/s)`, followed by its moves. */
export function cableTitle(cable: GraphCable, graph: RackGraph): string {
  const [a, b] = cable.ends;
  const speed = cable.bitsPerSecond === undefined ? '' : ` (${speedText(cable.bitsPerSecond)})`;
  const todo = moveLabels(graph, cable.moves)
    .map((line) => `; ${line}`)
    .join('');
  const measured = measuredWords(cable.measured)
    .map((text) => `; measured: ${text}`)
    .join('');
  return `${linkEndText(a)} <-> ${linkEndText(b)}: ${cableStates[cable.state].legend}${speed}${measured}${todo}`;
}

const strayKinds: Readonly<Record<GraphStray['kind'], string>> = {
  foreign: 'not in the file',
  unidentified: 'unidentified, maybe a node',
  ambiguous: 'claimed by two nodes',
};

/** Two lines about a Mac outside the file: its model, and why it is drawn. */
export function strayLines({ kind, model, hubsBetween, isInTheWay }: GraphStray): readonly [string, string] {
  const hub = hubsBetween > 0 ? ', behind a hub' : '';
  const way = isInTheWay ? ', in the wrong place' : '';
  return [clip(`Mac: ${escapeText(model)}`, 28), `${strayKinds[kind]}${hub}${way}`];
}

/** The receptacles on each face of the case: their numbers, or a count followed by the known ones. */
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

/** The lines below a node's name: model, receptacles with known positions, placements. */
export function nodeLines(node: GraphNode, { graph, placements }: GraphPicture): readonly string[] {
  const model = node.modelName ?? node.model;
  const own = placements.filter((placement) => placement.nodes.includes(node.name));
  return [
    ...(node.isSeen || graph.isDeclaredOnly ? [] : ['not observed']),
    ...(model === undefined ? [] : [escapeText(model)]),
    ...placeLines(node),
    ...own.map(({ name, state }) => (state === undefined ? name : `${name}: ${state}`)),
  ];
}

/** `4 nodes, 6 cables in the file, 5 as declared, 1 move`. */
export function graphSummary({ graph }: GraphPicture): string {
  const declared = graph.cables.filter((cable) => cable.isDeclared).length;
  const right = graph.cables.filter((cable) => cable.state === 'as-declared').length;
  const seen = graph.isDeclaredOnly ? 'not checked' : `${right} as declared`;
  const moves = graph.moves.length === 0 ? [] : [counted(graph.moves.length, 'move')];
  return [counted(graph.nodes.length, 'node'), `${counted(declared, 'cable')} in the file`, seen, ...moves].join(', ');
}

/** Plugged-in devices that are not Macs, one line per receptacle. */
export const graphNotes = ({ graph }: GraphPicture): readonly string[] =>
  graph.nodes.flatMap(({ name, receptacles }) =>
    receptacles
      .filter(({ sight, sees }) => (sight === 'device' || sight === 'silent') && sees !== undefined)
      .map(({ receptacle, sees }) => `${name}:${receptacle} sees ${escapeText(sees ?? '')}`),
  );
