import type { LinkEnd } from '../../model/node.ts';
import { linkAt } from '../cabling/judge-cabling.ts';
import { isSameEnd } from '../cabling/receptacle-view.ts';
import type { Examination } from '../examination.ts';

/** The other end of the declared link that ends here; undefined where none does. */
export const farEndOf = ({ cabling }: Examination, end: LinkEnd): LinkEnd | undefined =>
  linkAt(cabling.links, end)?.link.ends.find((one) => !isSameEnd(one, end));
