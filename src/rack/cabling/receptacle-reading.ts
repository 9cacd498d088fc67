import type { JudgedLink } from './judge-cabling.ts';
import type { ReceptacleView } from './receptacle-view.ts';

/**
 * What a receptacle sees, compared with the file:
 * `as-declared`, `slow`, `through-hub`, `one-sided`: the declared cable, in this state.
 * `wrong`: something other than the declared cable. `nothing`: a cable is declared but not plugged in.
 * Not in the file: `undeclared`, a cable to a node; `foreign`, a Mac outside the file; `device`, a dock or disk.
 * `silent`: something that does not answer. `empty`: free, as it should be. `unknown`: not known.
 */
export type ReceptacleSight =
  | 'as-declared'
  | 'slow'
  | 'through-hub'
  | 'one-sided'
  | 'wrong'
  | 'nothing'
  | 'undeclared'
  | 'foreign'
  | 'device'
  | 'silent'
  | 'empty'
  | 'unknown';

const isNobodyKnown = ({ peers }: ReceptacleView): boolean =>
  peers.some((peer) => peer.kind === 'unidentified' || peer.kind === 'ambiguous');

function freeSight(view: ReceptacleView): ReceptacleSight {
  switch (view.kind) {
    case 'peer':
      if (isNobodyKnown(view)) return 'unknown';
      return view.peers.some((peer) => peer.kind === 'foreign') ? 'foreign' : 'undeclared';
    case 'absent':
      return 'unknown';
    default:
      return view.kind;
  }
}

/** Compares one receptacle with the file; `judged` is the declared link that ends there, if any. */
export function sightOf(view: ReceptacleView, judged: JudgedLink | undefined): ReceptacleSight {
  switch (judged?.judgement.kind) {
    case undefined:
      return freeSight(view);
    case 'as-declared':
    case 'slow':
    case 'through-hub':
    case 'one-sided':
      return judged.judgement.kind;
    case 'missing':
    case 'elsewhere':
    case 'no-receptacle':
    case 'unknown': {
      if (view.kind === 'empty') return 'nothing';
      const isOpen = judged.judgement.kind === 'unknown' && (isNobodyKnown(view) || view.kind === 'silent');
      return isOpen || view.kind === 'unknown' ? 'unknown' : 'wrong';
    }
  }
}
