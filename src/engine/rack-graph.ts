import type { DesiredFleet } from '../model/desired.ts';
import { given } from '../model/given.ts';
import { type CasePlace, macModel } from '../model/macs.ts';
import { type LinkEnd, linkEndText, type NodeName } from '../model/node.ts';
import { modelAt, placeAt } from '../rack/cables/receptacle-place.ts';
import { listWords, viewText } from '../rack/cabling/cabling-text.ts';
import { type Cabling, type JudgedLink, linkAt, undeclaredCables, viewAt } from '../rack/cabling/judge-cabling.ts';
import { type ReceptacleSight, sightOf } from '../rack/cabling/receptacle-sight.ts';
import { caseFaces, compareEnds, facesWords, isSameEnd, orderedPair } from '../rack/cabling/receptacle-view.ts';
import { type Examination, examine } from '../rack/examination.ts';

/** One Mac of the drawing, with its receptacles in the order of their numbers. */
export interface GraphNode {
  readonly name: NodeName;
  /** Whether its receptacles were looked at. */
  readonly isSeen: boolean;
  /** Apple's identifier: as seen, else as the file has it. */
  readonly model?: string;
  /** `Mac Studio (M3 Ultra)`; absent for a model that is not known. */
  readonly modelName?: string;
  /** `4 on the back, 2 on the front`; absent for a model that is not known. */
  readonly faces?: string;
  readonly receptacles: readonly GraphReceptacle[];
}

/** One act of hands, numbered in the order in which it should be done. */
interface GraphMove {
  /** From 1. */
  readonly number: number;
  /** In the imperative. Names that come from nodes are not escaped in it. */
  readonly text: string;
  /** What has to be done before it, in the imperative; absent when nothing. */
  readonly first?: string;
}

/** The rack as it is drawn: declared and seen at once. */
export interface RackGraph {
  readonly cluster: string;
  /** Whether only the file was read: then nothing is known of any node. */
  readonly isDeclaredOnly: boolean;
  /** Sorted by name. */
  readonly nodes: readonly GraphNode[];
  /** Sorted by their ends; every declared link and every cable that is seen. */
  readonly cables: readonly GraphCable[];
  /** Macs at the end of a cable that are no node of the file, as far as anybody can say. */
  readonly strays: readonly GraphStray[];
  readonly moves: readonly GraphMove[];
}

function namesOf(desired: DesiredFleet): readonly NodeName[] {
  const linked = desired.thunderbolt.links.flatMap((link) => link.ends.map((end) => end.node));
  return [...new Set([...desired.nodes.map((node) => node.name), ...linked])].toSorted();
}

/** The numbers of receptacles that a node has as far as anybody knows, for one that nobody looked at. */
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
    ...given({ model }),
    ...(known === undefined ? {} : { modelName: known.name }),
    ...(faces === undefined ? {} : { faces: facesWords(faces) }),
    receptacles: graphReceptacles(examination, name, expectedNumbers(name, model, ends), isDeclaredOnly),
  };
}

/** `stop chat and remove the Thunderbolt Bridge on studio-1`; undefined when nothing stands before it. */
function firstOf({ stopFirst, bridgesFirst }: GraphAct): string | undefined {
  const words = [...(stopFirst.length === 0 ? [] : [`stop ${listWords(stopFirst)}`]), bridgesFirst];
  const told = words.filter((one) => one !== '');
  return told.length === 0 ? undefined : listWords(told);
}

function drawn(examination: Examination, acts: readonly GraphAct[], isDeclaredOnly: boolean): RackGraph {
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

/**
 * What is to be drawn of a rack that was looked at; `acts` are what hands have to do, in their order. Texts that come
 * from nodes are not escaped.
 */
export const rackGraph = (examination: Examination, acts: readonly GraphAct[]): RackGraph =>
  drawn(examination, acts, false);

/** The same of the file alone: links as they should be, and nothing of how they are. */
export const declaredGraph = (desired: DesiredFleet): RackGraph =>
  drawn(examine(desired, { nodes: {}, failures: {} }), [], true);

/** One receptacle of the drawing. */
export interface GraphReceptacle {
  readonly receptacle: number;
  /** What is seen beside what the file says; where only the file was read: `declared` or `free`. */
  readonly sight: ReceptacleSight | 'declared' | 'free';
  /** Absent where it is unknown. */
  readonly place?: CasePlace;
  /** What is seen there, in words (unescaped); absent where only the file was read. */
  readonly sees?: string;
}

/** A Mac at the end of a cable that is not a node of the file, as far as anybody can say. */
export interface GraphStray {
  readonly at: LinkEnd;
  /** `unidentified` may be a node that could not be looked at, `ambiguous` is one of two that answer as the same Mac. */
  readonly kind: 'foreign' | 'unidentified' | 'ambiguous';
  /** As it calls itself (unescaped). */
  readonly model: string;
  /** Docks or hubs between. */
  readonly hubsBetween: number;
  /** Whether the file declares another cable in that receptacle. */
  readonly isInTheWay: boolean;
  /** The numbers of the acts that touch its cable. */
  readonly moves: readonly number[];
}

/**
 * Every receptacle that a node shows, or the expected `numbers` of a node without observation, and those that links name.
 * By number.
 */
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

/** At a link that cannot be judged a stranger is most likely just the node that could not be looked at. */
const isExpected = ({ links }: Cabling, at: LinkEnd): boolean => linkAt(links, at)?.judgement.kind === 'unknown';

/** The Macs that are seen and are no node, by the receptacle that sees them. */
const graphStrays = (cabling: Cabling, acts: readonly GraphAct[]): readonly GraphStray[] =>
  cabling.rack.views.flatMap((view) =>
    view.peers.flatMap((peer): readonly GraphStray[] =>
      peer.kind === 'node' || (peer.kind !== 'foreign' && isExpected(cabling, view.at))
        ? []
        : [
            {
              at: view.at,
              kind: peer.kind,
              model: peer.model,
              hubsBetween: peer.hubsBetween,
              isInTheWay: linkAt(cabling.links, view.at) !== undefined,
              moves: acts.flatMap((act, index) =>
                act.takes.some((end) => isSameEnd(end, view.at)) ? [index + 1] : [],
              ),
            },
          ],
    ),
  );

/**
 * What a line of the drawing stands for:
 * `declared` in the file, nobody looked · `as-declared` in the file and seen · `slow`, `through-hub`, `one-sided` as
 * declared, and not good so · `missing` in the file, and not seen where it should be · `wrong` seen, in the way of a
 * declared one · `undeclared` seen, not in the file, in nobody's way · `unknown` in the file, and nobody can say.
 */
export type GraphCableState =
  | 'declared'
  | 'as-declared'
  | 'slow'
  | 'through-hub'
  | 'one-sided'
  | 'missing'
  | 'wrong'
  | 'undeclared'
  | 'unknown';

/** One act of hands, as far as a drawing needs it. */
interface GraphAct {
  readonly kind: string;
  /** Every receptacle that it names. */
  readonly ends: readonly LinkEnd[];
  /** Those of them out of which it takes a cable. */
  readonly takes: readonly LinkEnd[];
  /** In the imperative, without places on the case: the drawing shows them at the Macs. */
  readonly shortText: string;
  /** Placements that use a cable which it takes out. */
  readonly stopFirst: readonly string[];
  /** What must be done about bridges first, in the imperative; empty when nothing. */
  readonly bridgesFirst: string;
}

/** One line of the drawing: a declared link, a cable that is seen, or both. */
export interface GraphCable {
  /** In printing order. */
  readonly ends: readonly [LinkEnd, LinkEnd];
  readonly state: GraphCableState;
  readonly isDeclared: boolean;
  /** Whether anything is seen of it: by both its ends, or by one that the other does not see. */
  readonly isSeen: boolean;
  readonly bitsPerSecond?: number;
  /** The numbers of the acts that touch it. */
  readonly moves: readonly number[];
}

type Line = Omit<GraphCable, 'moves'>;

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

/** What one end sees and the other does not, beside the declared links. */
function halfSeenLines({ rack }: Cabling): readonly Line[] {
  return rack.views.flatMap((view) =>
    view.peers.flatMap((peer): readonly Line[] =>
      peer.kind === 'node' && !peer.isMutual && !isSameEnd(peer.end, view.at)
        ? [{ ends: orderedPair(view.at, peer.end), state: 'one-sided', isDeclared: false, isSeen: true }]
        : [],
    ),
  );
}

/** Acts whose receptacles are the two ends of one cable, whether or not anything is seen of it. */
const pairActs: readonly string[] = ['add-cable', 'plug-again'];

/** Whether hands touch this cable in this act, or bring it about. */
function isTouched(line: Line, { kind, ends, takes }: GraphAct): boolean {
  const isAmong = (end: LinkEnd): boolean => ends.some((one) => isSameEnd(one, end));
  const holds = (end: LinkEnd): boolean => line.isSeen && line.ends.some((one) => isSameEnd(one, end));
  return takes.some(holds) || (pairActs.includes(kind) && line.ends.every(isAmong));
}

/** Every declared link and every cable that is seen, each pair of receptacles once, sorted by their ends. */
function graphCables(cabling: Cabling, acts: readonly GraphAct[], isDeclaredOnly: boolean): readonly GraphCable[] {
  const lines = [
    ...cabling.links.map((judged) => lineOfLink(judged, isDeclaredOnly)),
    ...strangeLines(cabling),
    ...halfSeenLines(cabling),
  ];
  // What is told of a declared link is told first, and stays.
  const once = new Map<string, Line>();
  for (const line of lines) once.set(pairKey(line.ends), once.get(pairKey(line.ends)) ?? line);
  return [...once.values()]
    .toSorted((a, b) => compareEnds(a.ends[0], b.ends[0]) || compareEnds(a.ends[1], b.ends[1]))
    .map((line) => ({
      ...line,
      moves: acts.flatMap((act, index) => (isTouched(line, act) ? [index + 1] : [])),
    }));
}
