import { reasonWords } from '../diagnostics/prose-text.ts';
import type { Known } from '../model/known.ts';

/** What a known fact is in words, or why it is not known. */
export const knownWords = <T>(fact: Known<T>, words: (value: T) => string): string =>
  fact.kind === 'known' ? words(fact.value) : `unknown (${reasonWords[fact.reason]})`;
