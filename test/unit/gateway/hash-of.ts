import { createHash } from 'node:crypto';

/** The hash of a key in a key file, implemented independently of the gateway. */
export const hashOf = (key: string): string => createHash('sha256').update(`meshwright gateway\0${key}`).digest('hex');
