import { given } from '../model/given.ts';
import { editDistance } from './edit-distance.ts';

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

/** Longer words are never compared: the cost grows with the product of both lengths. */
const longestWord = 64;

/** The one candidate that is most likely meant; undefined when none is near or several are equally near. Case is ignored. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > longestWord) return undefined;
  const wanted = word.toLowerCase();
  let nearest: readonly string[] = [];
  let shortest = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const most = Math.min(shortest, farthest(word, candidate));
    if (candidate.length > longestWord || Math.abs(candidate.length - word.length) > most) continue;
    const distance = editDistance(wanted, candidate.toLowerCase(), most);
    if (distance > most) continue;
    nearest = distance === shortest ? [...nearest.slice(0, 1), candidate] : [candidate];
    shortest = distance;
  }
  const [only, ...others] = nearest;
  return only === undefined || others.length > 0 || shortest >= word.length ? undefined : only;
}

/** The largest distance at which one word may be meant by the other: a third of the longer one. */
const farthest = (word: string, other: string): number =>
  Math.max(1, Math.floor(Math.max(word.length, other.length) / 3));

/** Only so many findings are ever shown, so no more words are looked up. */
const lookedUpAtMost = 100;

/**
 * Suggestions among candidates that stay the same, for many words: each word is looked up once, and none any more after
 * the hundredth.
 */
export function suggesterAmong(candidates: readonly string[]): (word: string) => string | undefined {
  const found = new Map<string, string | undefined>();
  return (word) => {
    if (!found.has(word) && found.size < lookedUpAtMost) found.set(word, didYouMean(word, candidates));
    return found.get(word);
  };
}

/** What a finding says of the name that is likely meant; `otherwise` is its hint where none is near. */
export const meant = (
  near: string | undefined,
  otherwise?: string,
): { readonly label?: string; readonly hint?: string } =>
  near === undefined
    ? given({ hint: otherwise })
    : { label: `did you mean ${near}?`, hint: `Did you mean \`${near}\`?` };

/** `a, b and c`; nothing for an empty list. */
export function listText(words: readonly string[], last = 'and'): string {
  const head = words.slice(0, -1).join(', ');
  const tail = words.at(-1) ?? '';
  return head === '' ? tail : `${head} ${last} ${tail}`;
}
