/** One word of a shell text, as far as it can be known without running it. */
export interface ShellWord {
  /** Quotes removed; {@link expansion} stands for whatever the shell would put in. */
  readonly literal: string;
  /** Whether it began inside single quotes: then it is data, or a script for another shell. */
  readonly isSingleQuoted: boolean;
  readonly line: number;
}

/** One simple command: `NAME=value` words, then the words, and the targets of redirections. */
export interface SimpleCommand {
  readonly assignments: readonly ShellWord[];
  readonly words: readonly ShellWord[];
  readonly targets: readonly ShellWord[];
}

/** A form that the shell of a Mac, bash 3.2, does not take. */
export interface Refusal {
  readonly kind: 'bare-case-pattern' | 'bad-substitution' | 'unexpected-token';
  /** The token or the parameter expansion in question. */
  readonly token: string;
  readonly line: number;
}

/** Everything that was read of a shell text. */
export interface ShellReading {
  readonly commands: readonly SimpleCommand[];
  readonly refusals: readonly Refusal[];
}

/** Stands in a literal for an expansion. */
export const expansion = '\u0000';

/** Where the reader is, and what it has found. Private to the reader's own files. */
export interface Cursor {
  readonly text: string;
  at: number;
  readonly commands: SimpleCommand[];
  readonly refusals: Refusal[];
  /** Delimiters of here-documents whose bodies begin after the next newline. */
  readonly heredocs: { readonly delimiter: string; readonly isIndented: boolean }[];
  /** How many `$( )` are open: there bash 3.2 counts parentheses instead of reading the grammar. */
  substitutions: number;
  /** The place whose line was asked for last, and that line: texts are long, and asked about word by word. */
  counted: { readonly at: number; readonly line: number };
}

/** How many lines end between two places. */
function newlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** The line of a place in the text, from 1. */
export function lineAt(cursor: Cursor, at = cursor.at): number {
  const { text, counted } = cursor;
  const more = at < counted.at ? -newlines(text, at, counted.at) : newlines(text, counted.at, at);
  cursor.counted = { at, line: counted.line + more };
  return cursor.counted.line;
}

/** The next characters. */
export const ahead = (cursor: Cursor, wanted: string): boolean => cursor.text.startsWith(wanted, cursor.at);

/** Skips to behind the next occurrence of `wanted`, or to the end. */
export function skipPast(cursor: Cursor, wanted: string): string {
  const end = cursor.text.indexOf(wanted, cursor.at);
  const part = cursor.text.slice(cursor.at, end < 0 ? undefined : end);
  cursor.at = end < 0 ? cursor.text.length : end + wanted.length;
  return part;
}
