import { reasonWords } from '../diagnostics/prose-text.ts';
import type { Json } from '../model/digest.ts';
import type { Known } from '../model/known.ts';

/** What a known fact is in words, or why it is not known. */
export const knownWords = <T>(fact: Known<T>, words: (value: T) => string): string =>
  fact.kind === 'known' ? words(fact.value) : `unknown (${reasonWords[fact.reason]})`;

/** What a property is to be and what it is, as values and in the same words. */
export const compared = <T extends Json>(desired: T, observed: Known<T>, words: (value: T) => string) => ({
  desired,
  observed,
  from: knownWords(observed, words),
  to: words(desired),
});
