import { type Known, known, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { garbled, readLines } from './read-answer.ts';

/** One record in a node script's output: a head line and the lines below it. */
export interface NodeRecord {
  readonly head: string;
  readonly lines: readonly string[];
}

/**
 * Parses the records of our node scripts: each has a head and lines with a leading `|`. Without a last line `end`, the
 * list was cut off. `unreadable` means that this user lacks permission.
 */
export function readRecords(answer: Answer | undefined): Known<readonly NodeRecord[]> {
  const lines = readLines(answer);
  if (lines.kind === 'unknown') return lines;
  if (lines.value.includes('unreadable'))
    return unknown('no-privilege', "meshwright's folder on the node cannot be read.");
  if (lines.value.at(-1) !== 'end') return unknown('truncated', 'The list of records is incomplete.');
  const records: { readonly head: string; readonly lines: string[] }[] = [];
  for (const line of lines.value.slice(0, -1)) {
    const last = records.at(-1);
    if (!line.startsWith('|')) records.push({ head: line, lines: [] });
    else if (last === undefined) return garbled(answer, 'printed a line outside a record');
    else last.lines.push(line.slice(1));
  }
  return known(records);
}

/** Parses a record's `key=value` lines; `undefined` if a line is invalid or occurs twice. */
export function readFields(lines: readonly string[]): Readonly<Record<string, string>> | undefined {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const [, key = '', value = ''] = /^([A-Za-z][A-Za-z0-9_.-]{0,63})=(.*)$/.exec(line) ?? [];
    if (key === '' || fields.has(key)) return undefined;
    fields.set(key, value);
  }
  return Object.fromEntries(fields);
}
