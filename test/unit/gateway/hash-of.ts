import { createHash } from 'node:crypto';

/** The hash of a key, as a key file has it: written out here once more, so that the doorman is not asked about itself. */
export const hashOf = (key: string): string => createHash('sha256').update(`meshwright doorman\0${key}`).digest('hex');
