import { pathWord, tool } from '../../node/paths/node-paths.ts';

const timeServer = 'time.apple.com';

/**
 * Sets the clock from Apple's time server. Only a later observation shows whether it is right, because the node has
 * nothing to compare it with.
 *
 * @see sntp(1): -sS, step or slew depending on the offset
 */
export const setClock = (): string => `o=$(${pathWord(tool.sntp)} -sS ${timeServer} 2>&1) || failed no-time "$o"
changed`;
