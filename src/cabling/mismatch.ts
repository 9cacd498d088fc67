import { type LinkEnd, linkEndText } from '../model/link.ts';
import { type Cabling, undeclaredCables } from './judge-cabling.ts';
import { compareEnds, isSameEnd, type ReceptacleView } from './receptacle-view.ts';
import { viewAt } from './see-receptacles.ts';

/**
 * Receptacles that hang together through links that are not met and cables that are not declared. A receptacle has
 * at most one of each, so this is a path or a ring in which wanted links and wrong cables alternate.
 */
export interface Mismatch {
  /** The receptacles along the path; for a ring the last meets the first again. */
  readonly ends: readonly LinkEnd[];
  /** Whether the first two receptacles are joined by a wanted link (else by a wrong cable); from there they alternate. */
  readonly startsWithLink: boolean;
  readonly isRing: boolean;
  /** Receptacles whose content cannot be judged; while there is one, no move is proposed. */
  readonly unclear: readonly LinkEnd[];
}

type Neighbours = ReadonlyMap<string, LinkEnd>;

function neighboursOf(pairs: readonly (readonly [LinkEnd, LinkEnd])[]): Neighbours {
  return new Map(
    pairs.flatMap(([a, b]) => [
      [linkEndText(a), b],
      [linkEndText(b), a],
    ]),
  );
}

/** Only an empty receptacle, or one with one cable straight to one node, can be reasoned about. */
function isClear(view: ReceptacleView): boolean {
  if (view.kind === 'empty') {
    return true;
  }
  const [peer, ...others] = view.peers;
  return peer?.kind === 'node' && peer.isMutual && peer.hubsBetween === 0 && others.length === 0;
}

interface Walk {
  readonly ends: readonly LinkEnd[];
  readonly isRing: boolean;
}

function walk(start: LinkEnd, first: Neighbours, second: Neighbours): Walk {
  const ends = [start];
  const seen = new Set([linkEndText(start)]);
  let here = start;
  for (let isFirst = true; ; isFirst = !isFirst) {
    const next = (isFirst ? first : second).get(linkEndText(here));
    if (next === undefined) {
      return { ends, isRing: false };
    }
    if (seen.has(linkEndText(next))) {
      return { ends, isRing: isSameEnd(next, start) };
    }
    ends.push(next);
    seen.add(linkEndText(next));
    here = next;
  }
}

/** A path is found twice, once from each of its ends: the caller takes the first, in printing order. */
function walkFrom(start: LinkEnd, links: Neighbours, cables: Neighbours): Omit<Mismatch, 'unclear'> | undefined {
  const key = linkEndText(start);
  const startsWithLink = links.has(key) && !cables.has(key);
  if (startsWithLink || !links.has(key)) {
    const [first, second] = startsWithLink ? [links, cables] : [cables, links];
    return { ...walk(start, first, second), startsWithLink };
  }
  const ring = walk(start, links, cables);
  return ring.isRing ? { ...ring, startsWithLink: true } : undefined;
}

/**
 * The connected pieces of everything that is wrong with the cabling, in printing order. A link that an unlooked-at
 * node takes part in is in a piece whose `unclear` names that end.
 */
export function findMismatches(cabling: Cabling): readonly Mismatch[] {
  const unmet = cabling.links.filter(({ judgement }) => judgement.kind !== 'as-declared' && judgement.kind !== 'slow');
  const links = neighboursOf(unmet.map(({ link }) => link.ends));
  const cables = neighboursOf(undeclaredCables(cabling).map((cable) => cable.ends));
  const all = [...new Map([...links.values(), ...cables.values()].map((end) => [linkEndText(end), end])).values()];
  const done = new Set<string>();
  const found: Mismatch[] = [];
  for (const start of all.toSorted(compareEnds)) {
    const piece = done.has(linkEndText(start)) ? undefined : walkFrom(start, links, cables);
    if (piece !== undefined) {
      for (const end of piece.ends) {
        done.add(linkEndText(end));
      }
      found.push({ ...piece, unclear: piece.ends.filter((end) => !isClear(viewAt(cabling.rack, end))) });
    }
  }
  return found;
}
