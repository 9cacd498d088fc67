import { pathWord, tool } from '../../node/paths/node-paths.ts';

/** Whom a Mac asks for the time unless somebody chose another server. */
const timeServer = 'time.apple.com';

/**
 * Sets the clock by Apple's time server. Only a later observation shows whether it is right: the node has nothing to
 * compare it with.
 *
 * @see sntp(1): -sS, step or slew by the size of the offset
 */
export const setClock = (): string => `o=$(${pathWord(tool.sntp)} -sS ${timeServer} 2>&1) || failed no-time "$o"
changed`;
