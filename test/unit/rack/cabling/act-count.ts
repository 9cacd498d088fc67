import type { Move } from '../../../../src/rack/cabling/moves.ts';

/**
 * The number of acts in a move. An act moves one plug to another receptacle, or plugs in or removes a whole cable. Each
 * act is two handlings of plugs: one out and one in, or both plugs of the cable. Exchanging n plugs in a circle takes n
 * acts.
 */
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
