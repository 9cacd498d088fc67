import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { proseText, type Reader } from '../../diagnostics/prose-text.ts';
import type { GraphCable, GraphCableState, GraphNode, GraphStray, RackGraph } from '../../engine/rack-graph.ts';
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

/** `<name a="1">content</name>`; an attribute that is undefined is left out. The content is XML already. */
export function xmlElement(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  content = '',
): string {
  const written = Object.entries(attributes)
    .flatMap(([key, value]) => (value === undefined ? [] : [` ${key}="${attributeText(value)}"`]))
    .join('');
  return content === '' ? `<${name}${written}/>` : `<${name}${written}>${content}</${name}>`;
}

/** Numbers with one decimal at most, so that the same drawing is the same bytes everywhere. */
const attributeText = (value: string | number): string =>
  typeof value === 'number' ? String(Math.round(value * 10) / 10 + 0) : xmlText(value);

/** A placement as it is written on its nodes; without a state where nobody looked. */
export interface PlacementLabel {
  readonly name: string;
  readonly nodes: readonly string[];
  readonly state?: PlacementState;
}

/** What is drawn, in whichever form. */
export interface GraphPicture {
  readonly graph: RackGraph;
  readonly placements: readonly PlacementLabel[];
  readonly isSimulated: boolean;
  /** What is to be told before anything else, a sentence or two each; not escaped. */
  readonly warnings: readonly string[];
}

/** A finding that is to be told before anything else, on one line. */
export const alarmText = ({ summary, subject, hint }: Diagnostic, reader: Reader): string =>
  `${summary}${subject === undefined ? '' : ` ${subjectText(subject)}:`} ${proseText(hint, reader)}`;

/** How a line is drawn: `bad` needs hands, `extra` is not in the file and harms nobody. */
export type GraphTone = 'good' | 'plan' | 'bad' | 'extra' | 'open';

interface StateWords {
  readonly tone: GraphTone;
  /** Written on the line where no move is; empty for what is as it should be. */
  readonly label: string;
  readonly legend: string;
}

const states: Readonly<Record<GraphCableState, StateWords>> = {
  'as-declared': { tone: 'good', label: '', legend: 'in the file, and seen' },
  declared: { tone: 'plan', label: '', legend: 'in the file; nobody looked' },
  slow: { tone: 'bad', label: 'slow', legend: 'slow: no RDMA below 80 Gb/s' },
  'through-hub': { tone: 'bad', label: 'through a hub', legend: 'through a dock or hub' },
  'one-sided': { tone: 'bad', label: 'seen from one end only', legend: 'seen from one end only' },
  missing: { tone: 'bad', label: 'missing', legend: 'in the file, and not seen' },
  wrong: { tone: 'bad', label: 'wrong', legend: 'seen, in the place of another' },
  undeclared: { tone: 'extra', label: 'not in the file', legend: 'seen, not in the file' },
  unknown: { tone: 'open', label: '?', legend: '? nobody can say' },
};

/** Every state, in the order of the legend. */
export const graphStates = Object.keys(states).filter((key): key is GraphCableState => key in states);

/** How a line in this state is drawn. */
export const toneOf = (state: GraphCableState): GraphTone => states[state].tone;

/** How the line to a Mac that is no node is drawn. */
export const strayTone = ({ isInTheWay }: GraphStray): GraphTone => (isInTheWay ? 'bad' : 'extra');

/** What a line in this state means. */
export const legendOf = (state: GraphCableState): string => states[state].legend;

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
  const { label } = states[state];
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
  return `${linkEndText(a)} <-> ${linkEndText(b)}: ${states[cable.state].legend}${speed}${todo}`;
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
