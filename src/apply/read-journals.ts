import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { diagnose } from '../diagnostics/diagnose.ts';
import { FleetError } from '../diagnostics/fleet-error.ts';
import { journalSuffix } from './journal.ts';
import type { JournalRecord } from './journal-record.ts';

/** The journal of one run as it was found. */
export interface RecordedRun {
  readonly runId: string;
  /** In the order in which they were written. */
  readonly records: readonly JournalRecord[];
  /** False when the run has no last record: it was killed, or it still runs. */
  readonly isEnded: boolean;
}

/**
 * Every run that the folder of a cluster keeps, newest first; none when there is no such folder. A record that was cut
 * off while it was written, and whatever else is no record, is left out.
 * @throws FleetError `journal/cannot-read`
 */
export function readJournals(folder: string): readonly RecordedRun[] {
  const names = listed(folder).filter((name) => name.endsWith(journalSuffix));
  return names
    .sort()
    .reverse()
    .map((name) => {
      const records = parseJournal(textOf(join(folder, name)));
      const runId = name.slice(0, -journalSuffix.length);
      return { runId, records, isEnded: records.at(-1)?.phase === 'end' };
    });
}

/** The records of one journal. */
export const parseJournal = (text: string): readonly JournalRecord[] => text.split('\n').flatMap(parseRecord);

const phases: ReadonlySet<unknown> = new Set(['run', 'plan', 'lease', 'intent', 'outcome', 'end']);

function parseRecord(line: string): readonly JournalRecord[] {
  try {
    const value: Partial<JournalRecord> | null = JSON.parse(line);
    const isRecord = typeof value?.seq === 'number' && typeof value.at === 'string' && phases.has(value.phase);
    return isRecord ? [value as JournalRecord] : [];
  } catch {
    return [];
  }
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw cannotRead(folder, error);
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw cannotRead(path, error);
  }
}

function cannotRead(path: string, error: unknown): FleetError {
  const why = error instanceof Error ? error.message : String(error);
  const problem = diagnose('journal/cannot-read', { detail: `${path} cannot be read: ${why}.`, subject: path });
  return new FleetError([problem], { cause: error });
}
