import type { Word } from '../../model/probe.ts';
import { scriptWord } from '../paths/node-paths.ts';

/** A flag is `1` or empty. */
type Value = Word | number | boolean;

const wordOf = (value: Value): string =>
  typeof value === 'boolean' ? (value ? '1' : "''") : scriptWord(typeof value === 'number' ? String(value) : value);

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
