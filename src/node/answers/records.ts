import { type Known, known, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { garbled, readLines } from './read-answer.ts';

/** The key in the head line `job KEY` of a kept record. */
export const keyOfJobHead = (head: string): string | undefined => /^job ([A-Za-z0-9._-]{1,255})$/.exec(head)?.[1];

/** Whether a head line begins the record of the lease. */
export const isLeaseHead = (head: string): boolean => head === 'lease';

/** Whether a head line begins what the keeper left. */
export const isKeeperHead = (head: string): boolean => head === 'keeper';

/** Whether a head line begins what says that the node is to be left alone. */
export const isHoldHead = (head: string): boolean => head === 'hold';

/** The state in the head line `rollback STATE` of a change of the network that nobody has confirmed. */
export const stateOfRollbackHead = (head: string): 'pending' | 'rolling' | undefined =>
  head === 'rollback pending' ? 'pending' : head === 'rollback rolling' ? 'rolling' : undefined;

/** The key in the head line `baseline KEY` of a value from before the first change. */
export const keyOfBaselineHead = (head: string): string | undefined => /^baseline ([a-z-]{1,64})$/.exec(head)?.[1];

/** The label in the head line `foreign LABEL` of a daemon that was stopped. */
export const labelOfForeignHead = (head: string): string | undefined =>
  /^foreign ([A-Za-z0-9._-]{1,255})$/.exec(head)?.[1];

/** The exit in the head line `WORD EXIT` of a list of lines that a tool printed; `undefined` for another head. */
export function exitOfListHead(head: string, word: string): number | undefined {
  const [, found, code = ''] = /^([a-z]+) (\d{1,3})$/.exec(head) ?? [];
  return found === word ? Number(code) : undefined;
}

/** One record of a node script: its head line, and what stood below it. */
export interface NodeRecord {
  readonly head: string;
  readonly lines: readonly string[];
}

/**
 * The records that our own node scripts print: a head, its lines each behind `|`, and a last line `end`, without
 * which the list was cut. `unreadable` means that this user may not look.
 */
export function readRecords(answer: Answer | undefined): Known<readonly NodeRecord[]> {
  const lines = readLines(answer);
  if (lines.kind === 'unknown') return lines;
  if (lines.value.includes('unreadable')) return unknown('no-privilege', 'A folder of records cannot be read.');
  if (lines.value.at(-1) !== 'end') return unknown('truncated', 'The list of records does not end.');
  const records: { readonly head: string; readonly lines: string[] }[] = [];
  for (const line of lines.value.slice(0, -1)) {
    const last = records.at(-1);
    if (!line.startsWith('|')) records.push({ head: line, lines: [] });
    else if (last === undefined) return garbled(answer, 'printed a line without its record');
    else last.lines.push(line.slice(1));
  }
  return known(records);
}

/** The `key=value` lines of a record; `undefined` when one is none or comes twice. */
export function readFields(lines: readonly string[]): Readonly<Record<string, string>> | undefined {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const [, key = '', value = ''] = /^([A-Za-z][A-Za-z0-9_.-]{0,63})=(.*)$/.exec(line) ?? [];
    if (key === '' || fields.has(key)) return undefined;
    fields.set(key, value);
  }
  return Object.fromEntries(fields);
}
