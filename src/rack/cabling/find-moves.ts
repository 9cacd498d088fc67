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
 *
 * Why none is shorter: with L links to be made, W cables in the way and M of these that can stay with one end in a
 * link of their own, every link needs a plug pushed in at each receptacle where none stays (2L - M in all), and every
 * cable in the way a plug pulled, twice where none of its ends stays (2W - M). Two plugs are one act: L + W - M.
 */
export function findMoves(cabling: Cabling): readonly MoveGroup[] {
  const pieces = findMismatches(cabling).map((mismatch): MoveGroup => {
    return { mismatch, moves: mismatch.unclear.length > 0 ? [] : pieceMoves(mismatch) };
  });
  return shareSpares([...pieces, ...replacements(cabling)].toSorted(compareGroups));
}
