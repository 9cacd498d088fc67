import { listText, suggesterAmong } from './did-you-mean.ts';

const listedAtMost = 8;

/** What can be said instead of an unknown name; made once for all findings. */
export interface Choices {
  /** The one name that is most likely meant. */
  readonly near: (word: string) => string | undefined;
  /** The names as words of a sentence, the first eight. */
  readonly list: string;
}

/** The names that could have been meant. */
export function choicesAmong(names: readonly string[]): Choices {
  const more = names.length - listedAtMost;
  const list = listText([...names.slice(0, listedAtMost), ...(more > 0 ? [`${more} more`] : [])]);
  return { near: suggesterAmong(names), list };
}
