import { type Link, type LinkEnd, linkEndText } from '../../model/node.ts';
import { type Cabling, isLimited, minimumLinkBitsPerSecond, undeclaredCables } from './judge-cabling.ts';
import { compareEnds, isSameEnd, orderedPair, type ReceptacleView } from './receptacle-view.ts';
import { type SeenRack, viewAt } from './see-receptacles.ts';

/** A link that is still to be made, its ends in printing order, with whether it is to run at 80 Gb/s. */
export interface WantedLink extends Pick<Link, 'ends'> {
  /** False when a Mac at an end can do no more than 40. */
  readonly isFast: boolean;
}

/**
 * Receptacles that hang together through links that are not met and cables that are not declared. A receptacle has
 * at most one of each, so this is a path or a ring in which wanted links and wrong cables alternate.
 */
export interface Mismatch {
  /** Its receptacles, in printing order. */
  readonly ends: readonly LinkEnd[];
  readonly links: readonly WantedLink[];
  readonly cables: readonly WrongCable[];
  /** Receptacles whose content cannot be judged; while there is one, no move is proposed. */
  readonly unclear: readonly LinkEnd[];
}

/** Only an empty receptacle, or one with one cable straight to one Mac, can be reasoned about. */
function isClear(view: ReceptacleView): boolean {
  if (view.kind === 'empty' || outsideModel(view) !== undefined) return true;
  const [peer, ...others] = view.peers;
  return peer?.kind === 'node' && peer.isMutual && peer.hubsBetween === 0 && others.length === 0;
}

/** Links that hands can make: one that names a receptacle which does not exist is for the file. */
function wantedLinks({ links, rack }: Cabling): readonly WantedLink[] {
  return links
    .filter(({ judgement: { kind } }) => kind !== 'as-declared' && kind !== 'slow' && kind !== 'no-receptacle')
    .map(({ link }): WantedLink => ({ ends: orderedPair(...link.ends), isFast: !isLimited(rack, link.ends) }))
    .toSorted((a, b) => compareEnds(a.ends[0], b.ends[0]) || compareEnds(a.ends[1], b.ends[1]));
}

type Edge = WantedLink | WrongCable;

const touches = (one: Edge, others: readonly Edge[]): boolean =>
  others.some((other) => other.ends.some((end) => one.ends.some((own) => isSameEnd(own, end))));

/** Everything that shares receptacles with `start`, directly or through others. */
function connected(start: Edge, all: readonly Edge[]): readonly Edge[] {
  let found: readonly Edge[] = [start];
  for (;;) {
    const more = all.filter((one) => found.includes(one) || touches(one, found));
    if (more.length === found.length) return more;
    found = more;
  }
}

/**
 * The connected pieces of everything that is wrong with the cabling, in printing order. A link that an unlooked-at
 * node takes part in is in a piece whose `unclear` names that end.
 */
export function findMismatches(cabling: Cabling): readonly Mismatch[] {
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
  return found.toSorted((a, b) => (a.ends[0] && b.ends[0] ? compareEnds(a.ends[0], b.ends[0]) : 0));
}

/** A cable that is not where any link wants it. */
export interface WrongCable {
  /** Its ends in receptacles of the fleet, in printing order: two, or one when it goes to a Mac outside the file. */
  readonly ends: readonly LinkEnd[];
  /** The model of the Mac outside the file at its other end. */
  readonly outside?: string;
  /** Whether it runs below 80 Gb/s and no Mac at its ends is known to be the reason. */
  readonly isSlow: boolean;
}

const isSlow = (rack: SeenRack, ends: readonly LinkEnd[], bitsPerSecond: number | undefined): boolean =>
  bitsPerSecond !== undefined && bitsPerSecond < minimumLinkBitsPerSecond && !isLimited(rack, ends);

/** The one Mac outside the file to which a cable goes straight from here; undefined for anything else. */
function outsideModel({ peers }: ReceptacleView): string | undefined {
  const [peer, ...others] = peers;
  return peer?.kind === 'foreign' && peer.hubsBetween === 0 && others.length === 0 ? peer.model : undefined;
}

/** Every cable that no link declares, sorted by its first end: those between nodes, and those to Macs outside the file. */
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
