import type { UnknownReason } from '../model/known.ts';
import { type Command, type CommandWord, traitsOf } from '../model/text/command.ts';
import { mapWords, type Part, type Prose, prose } from '../model/text/prose.ts';
import { escapeText } from './escape.ts';

/** The words for each reason, shown after the names of facts. */
export const reasonWords: Readonly<Record<UnknownReason, string>> = {
  'tool-missing': 'the tool is missing',
  'no-privilege': 'this user may not read it',
  'timed-out': 'no answer in time',
  failed: 'the tool failed',
  empty: 'the tool printed nothing',
  garbled: 'unexpected output',
  truncated: 'the answer was cut off',
  busy: 'not checked while a program uses RDMA',
  'not-asked': 'not asked',
  unreachable: 'the node was not reached',
};

/**
 * Builds a hint that ends in commands to copy. Each command is on a separate line that begins with two spaces, so that
 * it is never wrapped. The sentence must not end with punctuation. Every line is escaped.
 */
export const withCommands = (sentence: Prose, commands: readonly (string | Command)[], lead: ':' | '.' = ':'): Prose =>
  prose`${mapWords(sentence, escapeText)}${{ kind: 'lines', lead, lines: commands.map(escaped) }}`;

const escaped = (one: string | Command): string | Command => (typeof one === 'string' ? escapeText(one) : one);

/** The context in which a text is shown. */
export interface Reader {
  /** If the nodes are simulated, commands that reach nodes need `--sim`. */
  readonly isSimulated: boolean;
}

const wordText = (word: CommandWord): string => escapeText(typeof word === 'string' ? word : word.text);

/** Formats a command to enter. Advice for a simulated fleet must never reach a real node. */
export function commandText({ verb, words, tail }: Command, { isSimulated }: Reader): string {
  const typed = ['meshwright', verb, ...words.map(wordText)];
  const sim = isSimulated && traitsOf(verb).reachesNodes === true ? ['--sim'] : [];
  return [...typed, ...sim, ...(tail.length === 0 ? [] : ['--', ...tail.map(wordText)])].join(' ');
}

function partText(part: Part, reader: Reader, space: string): string {
  if (typeof part === 'string') return part;
  switch (part.kind) {
    case 'command':
      return commandText(part, reader).replaceAll(' ', space);
    case 'node':
      return part.isLabel === true ? `${part.name}: ` : part.name;
    case 'first':
      return `First ${proseText(part.act, reader, space)}; then `;
    case 'lines':
      return [
        part.lines.length === 0 ? '.' : part.lead,
        ...part.lines.map((line) => `  ${typeof line === 'string' ? line : commandText(line, reader)}`),
      ].join('\n');
    case 'applied':
      return `${part.isLeft ? 'let apply ' : ''}${part.text}`;
  }
}

/** Renders a text for people. Commands use `space` between their words: `firmSpace` if the text will be wrapped. */
export const proseText = (text: Prose, reader: Reader, space = ' '): string =>
  typeof text === 'string' ? text : text.map((part) => partText(part, reader, space)).join('');

/** Renders a text for a record: a journal, a log or an error message. Commands in a record are not advice. */
export const plainText = (text: Prose): string => proseText(text, { isSimulated: false });
