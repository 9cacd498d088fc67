import type { Word } from '../../model/probe.ts';
import { pathWord, scriptWord } from '../paths/node-paths.ts';
import { quote } from '../quote.ts';

/** A flag is `1` or empty. */
type Value = Word | number | boolean;

/** Only what no shell and no reader takes for arithmetic stays without quotes. */
function wordOf(value: Value): string {
  if (typeof value === 'boolean') return value ? '1' : "''";
  if (typeof value === 'object') return pathWord(value);
  return /^\w+$/.test(String(value)) ? String(value) : quote(String(value));
}

/**
 * The text of a `.sh` file as a function of the variables that its header names, and of the words that it finds in `$@`.
 * They stand before the text, each quoted as one word; nothing is put into its middle.
 */
export const shellScript =
  <Name extends string>(text: string) =>
  (values: Readonly<Record<Name, Value>>, words?: readonly Word[]): string => {
    const lines = Object.entries<Value>(values).map(([name, value]) => `${name}=${wordOf(value)}\n`);
    return `${lines.join('')}${words ? `${['set --', ...words.map(scriptWord)].join(' ')}\n` : ''}${text}`;
  };
