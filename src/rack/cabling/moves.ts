import { given } from '../../model/given.ts';
import { compareText } from '../../model/lists.ts';
import { type Link, type LinkEnd, linkEndText } from '../../model/node.ts';
import {
  type Cabling,
  isLimited,
  minimumLinkBitsPerSecond,
  type SeenRack,
  undeclaredCables,
  viewAt,
} from './judge-cabling.ts';
import { compareEnds, isSameEnd, orderedPair, type ReceptacleView } from './receptacle-view.ts';

/** A link that still needs a cable, with its ends in printing order. */
interface WantedLink extends Pick<Link, 'ends'> {
  /** True if it should run at 80 Gb/s; false if a Mac at an end cannot run faster than 40 Gb/s. */
  readonly isFast: boolean;
}

/**
 * Receptacles that are connected through unmet links and undeclared cables. A receptacle has at most one of each, so this
 * is a path or a ring in which wanted links and wrong cables alternate.
 */
interface Mismatch {
  /** Its receptacles, in printing order. */
  readonly ends: readonly LinkEnd[];
  readonly links: readonly WantedLink[];
  readonly cables: readonly WrongCable[];
  /** Receptacles with unclear contents. While there are any, no move is proposed. */
  readonly unclear: readonly LinkEnd[];
}

/** A receptacle is clear if it is empty, or if its one cable goes directly to one Mac. */
function isClear(view: ReceptacleView): boolean {
  if (view.kind === 'empty' || outsideModel(view) !== undefined) return true;
  const [peer, ...others] = view.peers;
  return peer?.kind === 'node' && peer.isMutual && peer.hubsBetween === 0 && others.length === 0;
}

/** Links that people can make. A link to a receptacle that does not exist has to be corrected in the file. */
function wantedLinks({ links, rack }: Cabling): readonly WantedLink[] {
  return links
    .filter(({ judgement: { kind } }) => kind !== 'as-declared' && kind !== 'slow' && kind !== 'no-receptacle')
    .map(({ link }): WantedLink => ({ ends: orderedPair(...link.ends), isFast: !isLimited(rack, link.ends) }))
    .toSorted((a, b) => compareEnds(a.ends[0], b.ends[0]) || compareEnds(a.ends[1], b.ends[1]));
}

type Edge = WantedLink | WrongCable;

const touches = (one: Edge, others: readonly Edge[]): boolean =>
  others.some((other) => other.ends.some((end) => one.ends.some((own) => isSameEnd(own, end))));

/** All edges that share receptacles with `start`, directly or through other edges. */
function connected(start: Edge, all: readonly Edge[]): readonly Edge[] {
  let found: readonly Edge[] = [start];
  for (;;) {
    const more = all.filter((one) => found.includes(one) || touches(one, found));
    if (more.length === found.length) return more;
    found = more;
  }
}

/** Groups what is wrong with the cabling into connected pieces; `unclear` names their ends on unobserved nodes. */
function findMismatches(cabling: Cabling): readonly Mismatch[] {
  const links = wantedLinks(cabling);
  const cables = wrongCables(cabling);
  const all: readonly Edge[] = [...links, ...cables];
  const done = new Set<Edge>();
  const found: Mismatch[] = [];
  for (const start of all) {
    if (done.has(start)) continue;
    const piece = connected(start, all);
    for (const one of piece) done.add(one);
    const byText = new Map(piece.flatMap((one) => one.ends.map((end) => [linkEndText(end), end])));
    const ends = [...byText.values()].toSorted(compareEnds);
    found.push({
      ends,
      links: links.filter((link) => piece.includes(link)),
      cables: cables.filter((cable) => piece.includes(cable)),
      unclear: ends.filter((end) => !isClear(viewAt(cabling.rack, end))),
    });
  }
  return found;
}

interface WrongCable {
  /** Its ends in receptacles of the fleet, in printing order: two, or one if it goes to a Mac outside the file. */
  readonly ends: readonly LinkEnd[];
  /** The model of the Mac outside the file at its other end. */
  readonly outside?: string;
  /** True if it runs below 80 Gb/s although the Macs at its ends could run faster, as far as known. */
  readonly isSlow: boolean;
}

const isSlow = (rack: SeenRack, ends: readonly LinkEnd[], bitsPerSecond: number | undefined): boolean =>
  bitsPerSecond !== undefined && bitsPerSecond < minimumLinkBitsPerSecond && !isLimited(rack, ends);

/** The model of the Mac outside the file that a cable connects directly to; otherwise undefined. */
function outsideModel({ peers }: ReceptacleView): string | undefined {
  const [peer, ...others] = peers;
  return peer?.kind === 'foreign' && peer.hubsBetween === 0 && others.length === 0 ? peer.model : undefined;
}

/** Every cable that no link declares: first those between nodes, then those to Macs outside the file. */
function wrongCables(cabling: Cabling): readonly WrongCable[] {
  const { rack } = cabling;
  const inside = undeclaredCables(cabling).map(
    ({ ends, bitsPerSecond }): WrongCable => ({ ends, isSlow: isSlow(rack, ends, bitsPerSecond) }),
  );
  const outside = rack.views.flatMap((view): readonly WrongCable[] => {
    const model = outsideModel(view);
    return model === undefined
      ? []
      : [{ ends: [view.at], outside: model, isSlow: isSlow(rack, [view.at], view.linkBitsPerSecond) }];
  });
  return [...inside, ...outside];
}

/** New cables for declared cables that are too slow, unless the Macs limit the speed. */
function replacements({ links }: Cabling): readonly MoveGroup[] {
  return links.flatMap(({ link, judgement }): readonly MoveGroup[] => {
    if (judgement.kind !== 'slow' || judgement.limitedBy.length > 0) return [];
    const ends = orderedPair(...link.ends);
    return [{ mismatch: { ends, links: [], cables: [], unclear: [] }, moves: [{ kind: 'replace-cable', ends }] }];
  });
}

const compareGroups = (a: MoveGroup, b: MoveGroup): number =>
  a.mismatch.ends[0] && b.mismatch.ends[0] ? compareEnds(a.mismatch.ends[0], b.mismatch.ends[0]) : 0;

/**
 * The shortest list of acts that makes the cabling match the file, with one group per connected piece. Among equally
 * short lists, it fetches the fewest new cables. A piece with an unclear receptacle gets no moves, and a cable that is
 * in no link's way is left alone.
 *
 * Why no list is shorter: let L links be missing and W cables be in the way, of which M can stay with one end in a
 * missing link. Into each receptacle of a link without a staying plug, a plug has to be pushed: 2L - M in all. Each
 * plug of a cable in the way that does not stay has to be pulled: 2W - M in all. One act handles two plugs: L + W - M.
 */
export function findMoves(cabling: Cabling): readonly MoveGroup[] {
  const pieces = findMismatches(cabling).map(
    (mismatch): MoveGroup => ({ mismatch, moves: mismatch.unclear.length > 0 ? [] : pieceMoves(mismatch) }),
  );
  return shareSpares([...pieces, ...replacements(cabling)].toSorted(compareGroups));
}

type Fresh = Extract<Move, { readonly kind: 'add-cable' | 'replace-cable' }>;

const keyOf = (ends: Spare): string => ends.map(linkEndText).join(' ');

/** The speed of the cable that a move frees, `slow` only if that is known; undefined if it frees none. */
function freedBy({ cables }: Mismatch, move: Move): 'fast' | 'slow' | undefined {
  if (move.kind === 'replace-cable') return 'slow';
  if (move.kind !== 'remove-cable') return undefined;
  return cables.some((cable) => cable.isSlow && keyOf(cable.ends) === keyOf(move.ends)) ? 'slow' : 'fast';
}

const isFresh = (move: Move): move is Fresh => move.kind === 'add-cable' || move.kind === 'replace-cable';

const isForFast = ({ links }: Mismatch, move: Fresh): boolean =>
  move.kind === 'replace-cable' || links.some((link) => link.isFast && keyOf(link.ends) === keyOf(move.ends));

/** Groups that free a fast cable come first, then groups that replace or free a slow cable. */
function rankOf({ mismatch, moves }: MoveGroup): number {
  const freed = moves.map((move) => freedBy(mismatch, move));
  if (freed.includes('fast')) return 0;
  if (moves.some(({ kind }) => kind === 'replace-cable')) return 1;
  return freed.includes('slow') ? 2 : 3;
}

interface Numbered {
  readonly mismatch: Mismatch;
  readonly move: Move;
}

/** Gives freed cables, in order, to moves that can use them. A cable is used only after the move that frees it. */
function allot(
  spareOf: Map<Move, Spare>,
  all: readonly Numbered[],
  frees: (one: Numbered) => boolean,
  takes: (move: Fresh, mismatch: Mismatch) => boolean,
): void {
  const used = new Set(spareOf.values());
  const waiting: Spare[] = [];
  for (const one of all) {
    const { mismatch, move } = one;
    if (isFresh(move) && !spareOf.has(move) && takes(move, mismatch)) {
      const spare = waiting.shift();
      if (spare !== undefined) spareOf.set(move, spare);
    }
    if ('ends' in move && frees(one) && !used.has(move.ends)) waiting.push(move.ends);
  }
}

/**
 * Uses removed cables for missing links, so that people fetch few new cables. Slow cables go where a Mac limits the
 * speed, fast cables where speed is needed, then anywhere. Moves that free a cable come before moves that can use it.
 */
function shareSpares(groups: readonly MoveGroup[]): readonly MoveGroup[] {
  const ordered = groups.toSorted((a, b) => rankOf(a) - rankOf(b));
  const all = ordered.flatMap(({ mismatch, moves }) => moves.map((move): Numbered => ({ mismatch, move })));
  const isFreed = (speed: 'fast' | 'slow') => (one: Numbered) => freedBy(one.mismatch, one.move) === speed;
  const spareOf = new Map<Move, Spare>();
  allot(spareOf, all, isFreed('slow'), (move, mismatch) => !isForFast(mismatch, move));
  allot(spareOf, all, isFreed('fast'), (move, mismatch) => isForFast(mismatch, move));
  allot(spareOf, all, isFreed('fast'), () => true);
  return ordered.map((group) => ({
    ...group,
    moves: group.moves.map((move) => {
      const spare = spareOf.get(move);
      return spare === undefined || !isFresh(move) ? move : { ...move, spare };
    }),
  }));
}

/** A cable whose one end stays in a link's receptacle while the other end moves to the link's other receptacle. */
interface Shift {
  readonly stays: LinkEnd;
  /** Absent if that end is in a Mac outside the file. */
  readonly from?: LinkEnd;
  readonly to: LinkEnd;
  readonly outside?: string;
}

function shiftOf(cable: WrongCable, link: WantedLink): readonly Shift[] {
  const stays = cable.ends.find((end) => link.ends.some((one) => isSameEnd(one, end)));
  const to = stays === undefined ? undefined : link.ends.find((end) => !isSameEnd(end, stays));
  const from = cable.ends.find((end) => end !== stays);
  if (stays === undefined || to === undefined) return [];
  return [{ stays, to, ...given({ from, outside: cable.outside }) }];
}

const moveOf = ({ stays, from, to, outside }: Shift): Move =>
  from === undefined
    ? { kind: 'move-outside-end', at: stays, model: outside ?? 'unknown', to }
    : { kind: 'move-end', from, to };

/** The same round, beginning with its first receptacle in printing order. */
function fromSmallest(round: readonly LinkEnd[]): readonly LinkEnd[] {
  const [smallest] = round.toSorted(compareEnds);
  const start = smallest === undefined ? 0 : round.indexOf(smallest);
  return [...round.slice(start), ...round.slice(0, start)];
}

/** A round of cable ends: the end in each receptacle has to move to the next receptacle. */
function roundFrom(start: LinkEnd, shiftByFrom: ReadonlyMap<string, Shift>): readonly LinkEnd[] {
  const round = [start];
  for (let next = shiftByFrom.get(linkEndText(start))?.to; next !== undefined && !isSameEnd(next, start); ) {
    round.push(next);
    next = shiftByFrom.get(linkEndText(next))?.to;
  }
  return round;
}

/** Each end moves once its new receptacle is free. Ends that wait for each other move in a round. */
function inOrder(shifts: readonly Shift[]): readonly Move[] {
  const moves: Move[] = [];
  let left = shifts;
  while (left.length > 0) {
    const taken = new Set(left.flatMap(({ from }) => (from === undefined ? [] : [linkEndText(from)])));
    const next = left.find(({ to }) => !taken.has(linkEndText(to)));
    if (next === undefined) break;
    moves.push(moveOf(next));
    left = left.filter((one) => one !== next);
  }
  const shiftByFrom = new Map(left.flatMap((one) => (one.from === undefined ? [] : [[linkEndText(one.from), one]])));
  const done = new Set<string>();
  for (const { from } of left) {
    if (from === undefined || done.has(linkEndText(from))) continue;
    const round = roundFrom(from, shiftByFrom);
    for (const end of round) done.add(linkEndText(end));
    moves.push({ kind: 'rotate-ends', ends: fromSmallest(round) });
  }
  return moves;
}

function movesFor({ cables, links }: Mismatch, reuse: Reuse): readonly Move[] {
  const served = new Set(reuse.values());
  const removes = cables
    .filter((cable) => !reuse.has(cable))
    .map(({ ends, outside }): Move => ({ kind: 'remove-cable', ends, ...given({ outside }) }));
  const shifts = [...reuse].flatMap(([cable, link]) => shiftOf(cable, link));
  const adds = links.filter((link) => !served.has(link)).map(({ ends }): Move => ({ kind: 'add-cable', ends }));
  return [...removes, ...inOrder(shifts.toSorted((a, b) => compareEnds(a.to, b.to))), ...adds];
}

const nodesOf = (move: Move): readonly string[] => {
  switch (move.kind) {
    case 'move-end':
      return [move.from.node, move.to.node];
    // Here, a person also has to go to a Mac outside the file.
    case 'move-outside-end':
      return [' outside', move.to.node];
    default:
      return [...move.ends.map(({ node }) => node as string), ...('outside' in move ? [' outside'] : [])];
  }
};

/** The moves of a piece without unclear receptacles. Among equally short lists, it takes the fewest Macs to visit. */
function pieceMoves(mismatch: Mismatch): readonly Move[] {
  if (mismatch.links.length === 0) return [];
  const [best = []] = reuses(mismatch)
    .map((reuse) => movesFor(mismatch, reuse))
    .map((moves) => ({ moves, walk: new Set(moves.flatMap(nodesOf)).size, text: JSON.stringify(moves) }))
    .toSorted((a, b) => a.walk - b.walk || compareText(a.text, b.text))
    .map(({ moves }) => moves);
  return best;
}

/** The link that each cable serves after one of its ends moves. A cable that is not in the map is removed. */
type Reuse = ReadonlyMap<WrongCable, WantedLink>;

/** A cable can serve a link if one of its ends is in a receptacle of the link, unless it is too slow for the link. */
const serves = (cable: WrongCable, link: WantedLink): boolean =>
  !(cable.isSlow && link.isFast) && link.ends.some((end) => cable.ends.some((one) => isSameEnd(one, end)));

/** Assigns a link to as many cables as possible, in the order of the cables (Kuhn's augmenting paths). */
function match(cables: readonly WrongCable[], links: readonly WantedLink[]): Reuse {
  const cableByLink = new Map<string, WrongCable>();
  const place = (cable: WrongCable, tried: Set<string>): boolean =>
    links.some((link) => {
      const key = keyOf(link.ends);
      if (tried.has(key) || !serves(cable, link)) return false;
      tried.add(key);
      const before = cableByLink.get(key);
      if (before !== undefined && !place(before, tried)) return false;
      cableByLink.set(key, cable);
      return true;
    });
  for (const cable of cables) place(cable, new Set());
  return new Map(
    cables.flatMap((cable) => {
      const link = links.find((one) => cableByLink.get(keyOf(one.ends)) === cable);
      return link === undefined ? [] : [[cable, link] as const];
    }),
  );
}

/**
 * Ways to use as many cables of a piece as possible by moving one end of each; all ways need the same number of acts.
 * Slow cables are used first where they are fast enough, so that fast cables become free. There is one way per first
 * cable and direction; a ring has only the two directions.
 */
function reuses({ cables, links }: Pick<Mismatch, 'cables' | 'links'>): readonly Reuse[] {
  const bySpeed = [...cables.filter(({ isSlow }) => isSlow), ...cables.filter(({ isSlow }) => !isSlow)];
  const firsts = bySpeed.filter(({ isSlow }) => isSlow === bySpeed[0]?.isSlow);
  const orders = firsts.map((first) => [first, ...bySpeed.filter((cable) => cable !== first)]);
  return (orders.length === 0 ? [[]] : orders).flatMap((order) => [
    match(order, links),
    match(order, links.toReversed()),
  ]);
}

/** The fleet's receptacles from which a reusable cable was removed. */
type Spare = readonly LinkEnd[];

/** One action at the rack. The order of moves ensures that every receptacle is free when a plug has to go into it. */
export type Move =
  | { readonly kind: 'move-end'; readonly from: LinkEnd; readonly to: LinkEnd }
  /** The far plug of the cable in `at` moves from a Mac outside the file to `to`. */
  | { readonly kind: 'move-outside-end'; readonly at: LinkEnd; readonly model: string; readonly to: LinkEnd }
  /** The end in each receptacle moves to the next in the list, and the last to the first. Two ends are a swap. */
  | { readonly kind: 'rotate-ends'; readonly ends: readonly LinkEnd[] }
  /** `spare`: a cable that was removed earlier is fast enough; otherwise a person fetches one. */
  | { readonly kind: 'add-cable'; readonly ends: readonly [LinkEnd, LinkEnd]; readonly spare?: Spare }
  /** `ends` are its receptacles in the fleet: only one if it goes to a Mac outside the file, of the model `outside`. */
  | { readonly kind: 'remove-cable'; readonly ends: readonly LinkEnd[]; readonly outside?: string }
  /** Replaces a slow cable with a fast cable, in the same receptacles. */
  | { readonly kind: 'replace-cable'; readonly ends: readonly [LinkEnd, LinkEnd]; readonly spare?: Spare };

export interface MoveGroup {
  readonly mismatch: Mismatch;
  /** Empty if unknown; `mismatch.unclear` then names the receptacles to check first. */
  readonly moves: readonly Move[];
}

export function moveEnds(move: Move): readonly LinkEnd[] {
  switch (move.kind) {
    case 'move-end':
      return [move.from, move.to];
    case 'move-outside-end':
      return [move.at, move.to];
    default:
      return move.ends;
  }
}

export function takenEnds(move: Move): readonly LinkEnd[] {
  switch (move.kind) {
    case 'move-end':
      return [move.from];
    case 'move-outside-end':
      return [move.at];
    case 'add-cable':
      return [];
    default:
      return move.ends;
  }
}

export interface CableStep {
  readonly kind: string;
  readonly ends: readonly LinkEnd[];
  readonly takes: readonly LinkEnd[];
  /** In the imperative, without places on the case. */
  readonly shortText: string;
  /** Placements that use, or may use, a cable that the step removes. */
  readonly stopFirst: readonly string[];
  /** The bridge work to do first, in the imperative; empty if there is none. */
  readonly bridgesFirst: string;
}
