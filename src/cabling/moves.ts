import type { LinkEnd } from '../model/link.ts';
import type { Cabling } from './judge-cabling.ts';
import { findMismatches, type Mismatch } from './mismatch.ts';
import { compareEnds, orderedPair } from './receptacle-view.ts';

/** One act at the rack. Moves are in an order in which every receptacle is free when something is to go into it. */
export type Move =
  | { readonly kind: 'move-end'; readonly from: LinkEnd; readonly to: LinkEnd }
  /** The end in each receptacle goes to the next one of the list, the last to the first; two are an exchange. */
  | { readonly kind: 'rotate-ends'; readonly ends: readonly LinkEnd[] }
  | { readonly kind: 'add-cable'; readonly ends: readonly [LinkEnd, LinkEnd] }
  | { readonly kind: 'remove-cable'; readonly ends: readonly [LinkEnd, LinkEnd] };

/** What puts one piece of wrong cabling right. */
export interface MoveGroup {
  readonly mismatch: Mismatch;
  /** Empty when it cannot be told: `mismatch.unclear` then says which receptacles to look into first. */
  readonly moves: readonly Move[];
}

/** From a free receptacle on: each cable's far end comes to the free one and frees the next. */
function chainMoves(ends: readonly LinkEnd[]): readonly Move[] {
  const moves: Move[] = [];
  for (let i = 0; i < ends.length; i += 2) {
    const [free, near, far] = ends.slice(i, i + 3);
    if (free !== undefined && far !== undefined) {
      moves.push({ kind: 'move-end', from: far, to: free });
    } else if (free !== undefined && near !== undefined) {
      moves.push({ kind: 'add-cable', ends: orderedPair(free, near) });
    }
  }
  return moves;
}

const countNodes = (ends: readonly LinkEnd[]): number => new Set(ends.map((end) => end.node)).size;

/** The same round, told from its first receptacle in printing order. */
function fromSmallest(round: readonly LinkEnd[]): readonly LinkEnd[] {
  const [smallest] = round.toSorted(compareEnds);
  if (smallest === undefined) {
    return round;
  }
  const start = round.indexOf(smallest);
  return [...round.slice(start), ...round.slice(0, start)];
}

/** Every cable of the ring moves one end to the next link; either all the even or all the odd receptacles. */
function ringMoves(ends: readonly LinkEnd[]): readonly Move[] {
  // The ring starts with a link: the end in receptacle 2 belongs to the cable that should end in receptacle 0.
  const even = ends.filter((_, index) => index % 2 === 0).toReversed();
  const odd = ends.filter((_, index) => index % 2 === 1);
  const [nearest] = [fromSmallest(even), fromSmallest(odd)].toSorted(
    (a, b) => countNodes(a) - countNodes(b) || (a[0] && b[0] ? compareEnds(a[0], b[0]) : 0),
  );
  return nearest === undefined ? [] : [{ kind: 'rotate-ends', ends: nearest }];
}

function pathMoves(mismatch: Mismatch): readonly Move[] {
  const { ends } = mismatch;
  const endsWithLink = mismatch.startsWithLink === (ends.length % 2 === 0);
  if (mismatch.startsWithLink) {
    return chainMoves(ends);
  }
  if (endsWithLink) {
    return chainMoves(ends.toReversed());
  }
  const [outer, inner, ...rest] = ends;
  if (outer === undefined || inner === undefined || rest.length === 0) {
    return [];
  }
  return [{ kind: 'remove-cable', ends: orderedPair(outer, inner) }, ...chainMoves(ends.slice(1))];
}

/**
 * The fewest acts that make the cabling as declared, one group per piece that hangs together. A piece with a
 * receptacle that cannot be judged gets no moves, and a cable that stands in nobody's way is left alone.
 */
export function findMoves(cabling: Cabling): readonly MoveGroup[] {
  return findMismatches(cabling).map((mismatch) => {
    if (mismatch.unclear.length > 0) {
      return { mismatch, moves: [] };
    }
    return { mismatch, moves: mismatch.isRing ? ringMoves(mismatch.ends) : pathMoves(mismatch) };
  });
}
