import { type LinkEnd, linkEndText } from '../../model/node.ts';
import { type Cabling, type JudgedLink, linkAt, undeclaredCables } from '../../rack/cabling/judge-cabling.ts';
import { compareEnds, isSameEnd, orderedPair } from '../../rack/cabling/receptacle-view.ts';

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
export interface GraphAct {
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
    ...(speed === undefined ? {} : { bitsPerSecond: speed }),
  };
}

function strangeLines(cabling: Cabling): readonly Line[] {
  return undeclaredCables(cabling).map(({ ends, bitsPerSecond }) => ({
    ends,
    state: ends.some((end) => linkAt(cabling.links, end) !== undefined) ? 'wrong' : 'undeclared',
    isDeclared: false,
    isSeen: true,
    ...(bitsPerSecond === undefined ? {} : { bitsPerSecond }),
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
export function graphCables(
  cabling: Cabling,
  acts: readonly GraphAct[],
  isDeclaredOnly: boolean,
): readonly GraphCable[] {
  const lines = [
    ...cabling.links.map((judged) => lineOfLink(judged, isDeclaredOnly)),
    ...strangeLines(cabling),
    ...halfSeenLines(cabling),
  ];
  // What is told of a declared link is told first, and stays.
  const once = new Map<string, Line>();
  for (const line of lines) {
    once.set(pairKey(line.ends), once.get(pairKey(line.ends)) ?? line);
  }
  return [...once.values()]
    .toSorted((a, b) => compareEnds(a.ends[0], b.ends[0]) || compareEnds(a.ends[1], b.ends[1]))
    .map((line) => ({
      ...line,
      moves: acts.flatMap((act, index) => (isTouched(line, act) ? [index + 1] : [])),
    }));
}
