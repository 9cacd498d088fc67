import type { Ipv4Network } from '../../model/desired.ts';
import { type LinkEnd, linkEndText } from '../../model/link.ts';

/** `studio-1:2 <-> studio-2:2`: the one name of a link, whichever end is written first. */
export const linkText = (ends: readonly [LinkEnd, LinkEnd]): string => ends.map(linkEndText).sort().join(' <-> ');

/** `10.77.0.0/30`. */
export const networkText = ({ address, prefixLength }: Ipv4Network): string => `${address}/${prefixLength}`;
