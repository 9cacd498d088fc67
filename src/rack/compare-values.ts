import { reasonWords } from '../diagnostics/prose-text.ts';
import type { Json } from '../model/digest.ts';
import type { Known } from '../model/known.ts';

/** The value of a fact in words, or the reason why it is unknown. */
export const knownWords = <T>(fact: Known<T>, words: (value: T) => string): string =>
  fact.kind === 'known' ? words(fact.value) : `unknown (${reasonWords[fact.reason]})`;

/** The desired and the observed value of a property, as values and in words. */
export const compared = <T extends Json>(
  desired: T,
  observed: Known<T>,
  words: (value: T) => string,
  to = words(desired),
) => ({ desired, observed, from: knownWords(observed, words), to });
