import { given } from '../model/given.ts';
import { listText } from '../model/lists.ts';
import { editDistance } from './edit-distance.ts';

const listedAtMost = 8;

/** The names that an unknown name could mean; created once for all findings. */
export type Choices = ReturnType<typeof choicesAmong>;

/** `near` is the most likely name, if there is exactly one; `list` has the first eight names as part of a sentence. */
export function choicesAmong(names: readonly string[]) {
  const more = names.length - listedAtMost;
  const list = listText([...names.slice(0, listedAtMost), ...(more > 0 ? [`${more} more`] : [])]);
  return { near: suggesterAmong(names), list };
}

/** Longer words are never compared, because the cost grows with the product of both lengths. */
const longestWord = 64;

/** Returns the nearest candidate, ignoring case, or undefined if none is near or several are equally near. */
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

/** The largest distance at which a word counts as a typo: a third of the longer word. */
const farthest = (word: string, other: string): number =>
  Math.max(1, Math.floor(Math.max(word.length, other.length) / 3));

/** At most this many findings are shown. */
const suggestedAtMost = 100;

/** Suggests one of the same candidates for each of many words. Looks up each word once, and at most 100 words. */
export function suggesterAmong(candidates: readonly string[]): (word: string) => string | undefined {
  const found = new Map<string, string | undefined>();
  return (word) => {
    if (!found.has(word) && found.size < suggestedAtMost) found.set(word, didYouMean(word, candidates));
    return found.get(word);
  };
}

/** `Did you mean kimi? ` before a list of all names; empty if no name is near. */
export function guess(word: string, names: Iterable<string>): string {
  const near = didYouMean(word, names);
  return near === undefined ? '' : `Did you mean ${near}? `;
}

/** The label and hint that suggest a name; `otherwise` is the hint if no name is near. */
export const nameHint = (
  near: string | undefined,
  otherwise?: string,
): { readonly label?: string; readonly hint?: string } =>
  near === undefined
    ? given({ hint: otherwise })
    : { label: `did you mean ${near}?`, hint: `Did you mean \`${near}\`?` };
