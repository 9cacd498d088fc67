import { linkEndText } from '../../model/node.ts';
import type { Mismatch } from './mismatch.ts';
import type { Move, MoveGroup, Spare } from './moves.ts';

type Fresh = Extract<Move, { readonly kind: 'add-cable' | 'replace-cable' }>;

const keyOf = (ends: Spare): string => ends.map(linkEndText).join(' ');

/** Whether a move takes out a cable for good, and how fast that is known to be. */
function freedBy({ cables }: Mismatch, move: Move): 'fast' | 'slow' | undefined {
  if (move.kind === 'replace-cable') return 'slow';
  if (move.kind !== 'remove-cable') return undefined;
  return cables.some((cable) => cable.isSlow && keyOf(cable.ends) === keyOf(move.ends)) ? 'slow' : 'fast';
}

const isFresh = (move: Move): move is Fresh => move.kind === 'add-cable' || move.kind === 'replace-cable';

/** Whether what goes in here has to be fast. */
const isForFast = ({ links }: Mismatch, move: Fresh): boolean =>
  move.kind === 'replace-cable' || links.some((link) => link.isFast && keyOf(link.ends) === keyOf(move.ends));

/** What frees a fast cable comes first, then what frees a slow one. */
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

/** Gives the spares of a kind to the moves that take them, in order: each serves a move after the one that frees it. */
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
 * A cable that came out goes in where one is missing, so that few are fetched: slow ones where a Mac can do no more,
 * fast ones where they are needed, then anywhere. What frees a cable comes before what may use it.
 */
export function shareSpares(groups: readonly MoveGroup[]): readonly MoveGroup[] {
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
