import type { Word } from '../../model/probe.ts';
import { pathWord, scriptWord } from '../paths/node-paths.ts';
import { quote } from '../quote.ts';

/** A flag is `1` or empty. */
type Value = Word | number | boolean;

/** Leaves only values unquoted that no shell or reader interprets as arithmetic. */
function wordOf(value: Value): string {
  if (typeof value === 'boolean') return value ? '1' : "''";
  if (typeof value === 'object') return pathWord(value);
  return /^\w+$/.test(String(value)) ? String(value) : quote(String(value));
}

/** Several parts are one word. Texts next to each other are quoted together. */
function joinedWord(word: Word | readonly Word[]): string {
  const parts: Word[] = [];
  for (const part of [word].flat()) {
    const last = parts.at(-1);
    if (typeof last === 'string' && typeof part === 'string') parts.splice(-1, 1, last + part);
    else parts.push(part);
  }
  return parts.map(scriptWord).join('') || quote('');
}

/**
 * The text of a `.sh` file as a function of the variables in its header and the words in `$@`. Each value is quoted as
 * one word and precedes the text; nothing is inserted into the text.
 */
export const shellScript =
  <Name extends string>(text: string) =>
  (values: Readonly<Record<Name, Value>>, words?: readonly (Word | readonly Word[])[]): string => {
    const lines = Object.entries<Value>(values).map(([name, value]) => `${name}=${wordOf(value)}\n`);
    return `${lines.join('')}${words ? `${['set --', ...words.map(joinedWord)].join(' ')}\n` : ''}${text}`;
  };
