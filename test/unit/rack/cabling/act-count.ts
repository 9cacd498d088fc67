import type { Move } from '../../../../src/rack/cabling/moves.ts';

/**
 * How many acts a move takes. An act moves one plug to another receptacle, or plugs in or removes a whole cable. A person
 * always handles two plugs for it: one out and one in, or the two of the cable. A round of n plugs takes n acts.
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
