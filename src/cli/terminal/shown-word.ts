import { quote } from '../../node/quote.ts';

/** A word of a command as a person types it into a shell: quoted only where it must be. */
export const shownWord = (word: string): string => (/^[\w.,/=:@+-]+$/.test(word) ? word : quote(word));
