import { needsFastLink } from '../../desired/layouts.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { JudgedLink } from '../../rack/cabling/judge-cabling.ts';

/** How one declared link counts: `wrong` is what no hands at the cables can mend, `unjudged` what nobody knows. */
export type LinkVerdict = 'fine' | 'hands' | 'wrong' | 'unjudged';

/** Where nothing needs RDMA a slow cable is as the file wants it, and so is one of which nobody knows the speed. */
export function linkVerdict(desired: DesiredFleet, { link, judgement }: JudgedLink): LinkVerdict {
  const isFast = needsFastLink(desired, link.ends);
  switch (judgement.kind) {
    case 'as-declared':
      return isFast && judgement.bitsPerSecond === undefined ? 'unjudged' : 'fine';
    case 'slow':
      if (!isFast) return 'fine';
      // A Mac that can do no more is not mended by another cable.
      return judgement.limitedBy.length > 0 ? 'wrong' : 'hands';
    case 'unknown':
      return 'unjudged';
    case 'no-receptacle':
      return 'wrong';
    default:
      return 'hands';
  }
}
