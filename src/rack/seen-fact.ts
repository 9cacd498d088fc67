import { reasonWords } from '../diagnostics/prose-text.ts';
import type { Known } from '../model/known.ts';

/** A fact in another form; what is unknown stays so, for the same reason. */
export const mapKnown = <T, U>(fact: Known<T>, form: (value: T) => U): Known<U> =>
  fact.kind === 'known' ? { kind: 'known', value: form(fact.value) } : fact;

/** What a known fact is in words, or why it is not known. */
export const knownWords = <T>(fact: Known<T>, words: (value: T) => string): string =>
  fact.kind === 'known' ? words(fact.value) : `unknown (${reasonWords[fact.reason]})`;
