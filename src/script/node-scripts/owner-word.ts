import { quote } from '../quote.ts';

/**
 * An account as a word of a script that runs as root; an empty one is whoever asked sudo.
 *
 * @see sudo(8), ENVIRONMENT: SUDO_USER is the login name of the user who invoked sudo
 */
export const ownerWord = (user: string): string =>
  // Set by sudo itself; absent only where root has logged in.
  user === '' ? '"${SUDO_USER:-root}"' : quote(user);
