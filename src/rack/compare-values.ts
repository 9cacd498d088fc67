import { reasonWords } from '../diagnostics/prose-text.ts';
import type { Json } from '../model/digest.ts';
import type { Known } from '../model/known.ts';

export const knownWords = <T>(fact: Known<T>, words: (value: T) => string): string =>
  fact.kind === 'known' ? words(fact.value) : `unknown (${reasonWords[fact.reason]})`;

export const compared = <T extends Json>(
  desired: T,
  observed: Known<T>,
  words: (value: T) => string,
  to = words(desired),
) => ({ desired, observed, from: knownWords(observed, words), to });
