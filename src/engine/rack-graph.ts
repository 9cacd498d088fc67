import type { DesiredFleet } from '../model/desired.ts';
import type { GraphDocument } from '../model/documents.generated.ts';
import { given } from '../model/given.ts';
import { listText } from '../model/lists.ts';
import { type CasePlace, macModel } from '../model/macs.ts';
import { measurementOf, type NewestMeasurement } from '../model/measured-cable.ts';
import { type LinkEnd, linkEndText, type NodeName } from '../model/node.ts';
import { modelAt, placeAt } from '../rack/cables/receptacle-place-reading.ts';
import { viewText } from '../rack/cabling/cabling-text.ts';
import { type Cabling, type JudgedLink, linkAt, undeclaredCables, viewAt } from '../rack/cabling/judge-cabling.ts';
import type { CableStep } from '../rack/cabling/moves.ts';
import { type ReceptacleSight, sightOf } from '../rack/cabling/receptacle-reading.ts';
import { caseFaces, compareEnds, facesWords, isSameEnd, orderedPair } from '../rack/cabling/receptacle-view.ts';
import { type Examination, examine } from '../rack/examination.ts';

/** One Mac in the drawing, with its receptacles in number order. */
export interface GraphNode {
  readonly name: NodeName;
  /** True if its receptacles were observed. */
  readonly isSeen: boolean;
  /** Apple's identifier, observed or taken from the file. */
  readonly model?: string;
  /** `Mac Studio (M3 Ultra)`; absent for unknown models. */
  readonly modelName?: string;
  /** `4 on the back, 2 on the front`; absent for unknown models. */
  readonly faces?: string;
  readonly receptacles: readonly GraphReceptacle[];
}

/** The rack with its declared cables and its seen cables. */
export interface RackGraph {
  readonly cluster: string;
  /** True if only the file was read, without an observation. */
  readonly isDeclaredOnly: boolean;
  /** Sorted by name. */
  readonly nodes: readonly GraphNode[];
  /** All declared links and seen cables, sorted by their ends. */
  readonly cables: readonly GraphCable[];
  /** Macs at cable ends that are not known as nodes in the file. */
  readonly strays: readonly GraphStray[];
  /** The manual steps in order; names from nodes are not yet escaped. */
  readonly moves: NonNullable<GraphDocument['moves']>;
}

function namesOf(desired: DesiredFleet): readonly NodeName[] {
  const linked = desired.thunderbolt.links.flatMap((link) => link.ends.map((end) => end.node));
  return [...new Set([...desired.nodes.map((node) => node.name), ...linked])].toSorted();
}

/** The expected receptacle numbers of an unobserved node. */
function expectedNumbers(name: NodeName, model: string | undefined, ends: readonly LinkEnd[]): readonly number[] {
  const count = model === undefined ? 0 : (macModel(model)?.receptacles ?? 0);
  const declared = ends.filter((end) => end.node === name).map((end) => end.receptacle);
  return [...new Set([...Array.from({ length: count }, (_, index) => index + 1), ...declared])];
}

function graphNode(examination: Examination, name: NodeName, isDeclaredOnly: boolean): GraphNode {
  const { cabling, desired } = examination;
  const model = modelAt(examination, name);
  const faces = model === undefined ? undefined : caseFaces(model);
  const known = model === undefined ? undefined : macModel(model);
  const ends = desired.thunderbolt.links.flatMap((link) => link.ends);
  return {
    name,
    isSeen: cabling.rack.seenNodes.includes(name),
    ...given({ model, modelName: known?.name, faces: faces && facesWords(faces) }),
    receptacles: graphReceptacles(examination, name, expectedNumbers(name, model, ends), isDeclaredOnly),
  };
}

/** Text of a step's prerequisites, such as `stop chat and remove the Thunderbolt Bridge on studio-1`, if any. */
function firstOf({ stopFirst, bridgesFirst }: CableStep): string | undefined {
  const words = [...(stopFirst.length === 0 ? [] : [`stop ${listText(stopFirst)}`]), bridgesFirst];
  const parts = words.filter((one) => one !== '');
  return parts.length === 0 ? undefined : listText(parts);
}

function drawn(examination: Examination, acts: readonly CableStep[], isDeclaredOnly: boolean): RackGraph {
  const { cabling, desired } = examination;
  return {
    cluster: desired.name,
    isDeclaredOnly,
    nodes: namesOf(desired).map((name) => graphNode(examination, name, isDeclaredOnly)),
    cables: graphCables(cabling, acts, isDeclaredOnly),
    strays: graphStrays(cabling, acts),
    moves: acts.map((act, index) => {
      const first = firstOf(act);
      return { number: index + 1, text: act.shortText, ...given({ first }) };
    }),
  };
}

/** The drawing of an observed rack. `acts` are the manual steps in order. Text from nodes is not yet escaped. */
export function rackGraph(
  examination: Examination,
  acts: readonly CableStep[],
  measured: readonly NewestMeasurement[] = [],
): RackGraph {
  const graph = drawn(examination, acts, false);
  const cables = graph.cables.map((cable) => ({
    ...cable,
    ...given({ measured: measurementOf(measured, cable.ends) }),
  }));
  return { ...graph, cables };
}

/** A drawing of the file only: declared links without observed states. */
export const declaredGraph = (desired: DesiredFleet): RackGraph =>
  drawn(examine(desired, { nodes: {}, failures: {} }), [], true);

export interface GraphReceptacle {
  readonly receptacle: number;
  /** The reading compared with the file. If only the file was read: `declared` or `free`. */
  readonly sight: ReceptacleSight | 'declared' | 'free';
  /** Absent if unknown. */
  readonly place?: CasePlace;
  /** What the receptacle sees, as unescaped text; absent if only the file was read. */
  readonly sees?: string;
}

/** A Mac at a cable end that is not known as a node in the file; `model` is not yet escaped. */
export interface GraphStray extends Pick<GraphDocument['strays'][number], 'kind' | 'model' | 'hubsBetween' | 'moves'> {
  readonly at: LinkEnd;
  /** True if the file declares a different cable in that receptacle. */
  readonly isInTheWay: boolean;
}

/** A node's receptacles by number: those observed (or else the expected `numbers`), and those that links name. */
function graphReceptacles(
  examination: Examination,
  name: NodeName,
  numbers: readonly number[],
  isDeclaredOnly: boolean,
): readonly GraphReceptacle[] {
  const { cabling } = examination;
  const seen = cabling.rack.views.filter((view) => view.at.node === name).map((view) => view.at.receptacle);
  const named = cabling.links.flatMap(({ link }) => link.ends).filter((end) => end.node === name);
  const isSeen = cabling.rack.seenNodes.includes(name);
  const all = isSeen ? [...seen, ...named.map((end) => end.receptacle)] : numbers;
  return [...new Set(all)]
    .toSorted((a, b) => a - b)
    .map((receptacle) => {
      const end = { node: name, receptacle };
      const view = viewAt(cabling.rack, end);
      const link = linkAt(cabling.links, end);
      const place = placeAt(examination, end);
      return isDeclaredOnly
        ? { receptacle, sight: link === undefined ? 'free' : 'declared', ...given({ place }) }
        : { receptacle, sight: sightOf(view, link), ...given({ place }), sees: viewText(view) };
    });
}

/** An unknown Mac at a link with an unobserved end is most likely the unobserved node. */
const isExpected = ({ links }: Cabling, at: LinkEnd): boolean => linkAt(links, at)?.judgement.kind === 'unknown';

/** Macs outside the file, by the receptacle that sees them. */
const graphStrays = (cabling: Cabling, acts: readonly CableStep[]): readonly GraphStray[] =>
  cabling.rack.views.flatMap(({ at, peers }) =>
    peers.flatMap((peer): readonly GraphStray[] => {
      if (peer.kind === 'node' || (peer.kind !== 'foreign' && isExpected(cabling, at))) return [];
      const { kind, model, hubsBetween } = peer;
      const isInTheWay = linkAt(cabling.links, at) !== undefined;
      const moves = acts.flatMap(({ takes }, index) => (takes.some((end) => isSameEnd(end, at)) ? [index + 1] : []));
      return [{ at, kind, model, hubsBetween, isInTheWay, moves }];
    }),
  );

/**
 * The states of a line: `declared` in the file, not checked · `as-declared` in the file and seen · `slow`,
 * `through-hub`, `one-sided` as declared, but with a problem · `missing` in the file, not seen · `wrong` seen, in a
 * receptacle of a declared link · `undeclared` seen, not in the file, harmless · `unknown` in the file, unobserved.
 */
export type GraphCableState = GraphDocument['cables'][number]['state'];

/** One line in the drawing: a declared link, a seen cable, or both. */
export interface GraphCable {
  /** In printing order. */
  readonly ends: readonly [LinkEnd, LinkEnd];
  readonly state: GraphCableState;
  readonly isDeclared: boolean;
  /** True if at least one end sees the other. */
  readonly isSeen: boolean;
  readonly bitsPerSecond?: number;
  /** Numbers of the manual steps for this cable. */
  readonly moves: readonly number[];
  /** The cable's newest measurement. */
  readonly measured?: NewestMeasurement;
}

type Line = Omit<GraphCable, 'moves' | 'measured'>;

const pairKey = (ends: GraphCable['ends']): string => ends.map(linkEndText).join(' ');

function stateOfLink({ judgement }: JudgedLink, isDeclaredOnly: boolean): GraphCableState {
  switch (judgement.kind) {
    case 'as-declared':
    case 'slow':
    case 'through-hub':
    case 'one-sided':
      return judgement.kind;
    case 'missing':
    case 'elsewhere':
    case 'no-receptacle':
      return 'missing';
    case 'unknown':
      return isDeclaredOnly ? 'declared' : 'unknown';
  }
}

function lineOfLink(judged: JudgedLink, isDeclaredOnly: boolean): Line {
  const { judgement, link } = judged;
  const state = stateOfLink(judged, isDeclaredOnly);
  const speed = 'bitsPerSecond' in judgement ? judgement.bitsPerSecond : undefined;
  return {
    ends: orderedPair(...link.ends),
    state,
    isDeclared: true,
    isSeen: state === 'as-declared' || state === 'slow' || state === 'through-hub' || state === 'one-sided',
    ...given({ bitsPerSecond: speed }),
  };
}

function strangeLines(cabling: Cabling): readonly Line[] {
  return undeclaredCables(cabling).map(({ ends, bitsPerSecond }) => ({
    ends,
    state: ends.some((end) => linkAt(cabling.links, end) !== undefined) ? 'wrong' : 'undeclared',
    isDeclared: false,
    isSeen: true,
    ...given({ bitsPerSecond }),
  }));
}

/** Cables without a declared link that only one end sees. */
function halfSeenLines({ rack }: Cabling): readonly Line[] {
  return rack.views.flatMap((view) =>
    view.peers.flatMap((peer): readonly Line[] =>
      peer.kind === 'node' && !peer.isMutual && !isSameEnd(peer.end, view.at)
        ? [{ ends: orderedPair(view.at, peer.end), state: 'one-sided', isDeclared: false, isSeen: true }]
        : [],
    ),
  );
}

/** Kinds of manual steps whose receptacles are the two ends of one cable, seen or not. */
const pairActs: readonly string[] = ['add-cable', 'plug-again'];

/** True if a manual step unplugs, adds or replugs this cable. */
function isTouched(line: Line, { kind, ends, takes }: CableStep): boolean {
  const isAmong = (end: LinkEnd): boolean => ends.some((one) => isSameEnd(one, end));
  const holds = (end: LinkEnd): boolean => line.isSeen && line.ends.some((one) => isSameEnd(one, end));
  return takes.some(holds) || (pairActs.includes(kind) && line.ends.every(isAmong));
}

/** All declared links and seen cables, once per pair of receptacles, sorted by their ends. */
function graphCables(cabling: Cabling, acts: readonly CableStep[], isDeclaredOnly: boolean): readonly GraphCable[] {
  const lines = [
    ...cabling.links.map((judged) => lineOfLink(judged, isDeclaredOnly)),
    ...strangeLines(cabling),
    ...halfSeenLines(cabling),
  ];
  // The first entry for a pair, which is the declared link, wins.
  const once = new Map<string, Line>();
  for (const line of lines) once.set(pairKey(line.ends), once.get(pairKey(line.ends)) ?? line);
  return [...once.values()]
    .toSorted((a, b) => compareEnds(a.ends[0], b.ends[0]) || compareEnds(a.ends[1], b.ends[1]))
    .map((line) => ({ ...line, moves: acts.flatMap((act, index) => (isTouched(line, act) ? [index + 1] : [])) }));
}
