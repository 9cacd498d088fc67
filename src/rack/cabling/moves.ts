import type { LinkEnd } from '../../model/node.ts';
import type { Mismatch } from './mismatch.ts';

/** Where a cable comes from that is to be used again: the receptacles of the fleet that it was taken out of. */
export type Spare = readonly LinkEnd[];

/**
 * One thing to do at the rack. Moves are in an order in which every receptacle is free when something is to go into it.
 * Each is as many acts as {@link actCount} says: an act is a plug that goes from one receptacle to another, or a whole
 * cable that comes in or goes out; for the hands that is always two plugs handled.
 */
export type Move =
  | { readonly kind: 'move-end'; readonly from: LinkEnd; readonly to: LinkEnd }
  /** The far plug of the cable in `at`, which is in a Mac outside the file, comes to `to`. */
  | { readonly kind: 'move-outside-end'; readonly at: LinkEnd; readonly model: string; readonly to: LinkEnd }
  /** The end in each receptacle goes to the next one of the list, the last to the first; two are an exchange. */
  | { readonly kind: 'rotate-ends'; readonly ends: readonly LinkEnd[] }
  /** `spare`: a cable that came out before will do; else one is fetched. */
  | { readonly kind: 'add-cable'; readonly ends: readonly [LinkEnd, LinkEnd]; readonly spare?: Spare }
  /** `ends` are its receptacles in the fleet: one only when it goes to a Mac outside the file, of the model `outside`. */
  | { readonly kind: 'remove-cable'; readonly ends: readonly LinkEnd[]; readonly outside?: string }
  /** Out with a slow cable and in with a fast one, in the same receptacles. */
  | { readonly kind: 'replace-cable'; readonly ends: readonly [LinkEnd, LinkEnd]; readonly spare?: Spare };

/** What puts one piece of wrong cabling right. */
export interface MoveGroup {
  readonly mismatch: Mismatch;
  /** Empty when it cannot be told: `mismatch.unclear` then says which receptacles to look into first. */
  readonly moves: readonly Move[];
}

/** Every receptacle of the fleet that a move names. */
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

/** The receptacles of the fleet whose cables a move disturbs: it takes one of their plugs out. */
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

/** How many acts a move is for the hands: n plugs that go round are n, since each of them is put somewhere else. */
export function actCount(move: Move): number {
  switch (move.kind) {
    case 'rotate-ends':
      return move.ends.length;
    case 'replace-cable':
      return 2;
    default:
      return 1;
  }
}
