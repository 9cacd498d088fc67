import type { Cabling } from './judge-cabling.ts';
import { findMismatches } from './mismatch.ts';
import type { MoveGroup } from './moves.ts';
import { pieceMoves } from './piece-moves.ts';
import { compareEnds, orderedPair } from './receptacle-view.ts';
import { shareSpares } from './share-spares.ts';

/** Cables that run as declared and too slow through no fault of their Macs. */
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
 * The fewest acts that make the cabling as declared, one group per piece that hangs together, and of such lists one
 * that fetches the fewest new cables. A piece with a receptacle that cannot be judged gets no moves, and a cable that
 * stands in nobody's way is left alone.
 */
export function findMoves(cabling: Cabling): readonly MoveGroup[] {
  const pieces = findMismatches(cabling).map((mismatch): MoveGroup => {
    return { mismatch, moves: mismatch.unclear.length > 0 ? [] : pieceMoves(mismatch) };
  });
  return shareSpares([...pieces, ...replacements(cabling)].toSorted(compareGroups));
}
