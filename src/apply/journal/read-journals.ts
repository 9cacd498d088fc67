import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import { namedSubject } from '../../model/subject.ts';
import { checksum, type JournalRecord, journalSuffix } from './journal.ts';
import { validateJournal } from './journal-validator.generated.ts';

/** The records of one journal. */
interface ReadRecords {
  /** In the order in which they were written. */
  readonly records: readonly JournalRecord[];
  /** How many records are damaged or missing. A last line without an end was cut off while it was written: not counted. */
  readonly damaged: number;
}

/** The journal of one run as it was found. */
export interface RecordedRun extends ReadRecords {
  readonly runId: string;
  /** False when the run has no last record: it was killed, or it still runs. */
  readonly isEnded: boolean;
}

/** The journals of a cluster. */
interface ReadJournals {
  /** Newest first. */
  readonly runs: readonly RecordedRun[];
  /** `journal/cannot-read`, one for each journal that cannot be read. */
  readonly problems: readonly Diagnostic[];
}

/**
 * Every run that the folder of a cluster keeps; none when there is no such folder.
 * @throws FleetError `journal/cannot-read` when the folder cannot be read
 */
export function readJournals(folder: string): ReadJournals {
  const names = listed(folder)
    .filter((name) => name.endsWith(journalSuffix))
    .sort()
    .reverse();
  const found = names.map((name) => readOne(join(folder, name), name.slice(0, -journalSuffix.length)));
  return {
    runs: found.flatMap((one) => ('runId' in one ? [one] : [])),
    problems: found.flatMap((one) => ('code' in one ? [one] : [])),
  };
}

function readOne(path: string, runId: string): RecordedRun | Diagnostic {
  try {
    const { records, damaged } = parseJournal(textOf(path));
    return { runId, records, damaged, isEnded: records.at(-1)?.phase === 'end' };
  } catch (error) {
    return { ...cannotRead(path, error), severity: 'warning' };
  }
}

/** The records of one journal. */
export function parseJournal(text: string): ReadRecords {
  const lines = text.split('\n');
  const parsed = lines.map(parseRecord);
  const records = parsed.filter((one) => one !== undefined);
  const last = parsed.findLastIndex((one) => one !== undefined);
  const bad = parsed.slice(0, last).filter((one) => one === undefined).length;
  // A line that was lost whole is missing in the count; one that is there and damaged is missing there, too.
  const lost = (records.at(-1)?.seq ?? 0) - records.length;
  const after = lines.slice(last + 1, -1).filter((line) => line !== '').length;
  return { records, damaged: Math.max(bad, lost) + after };
}

function parseRecord(line: string): JournalRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!validateJournal(value)) return undefined;
    const { sum, ...record } = value as JournalRecord & { readonly sum?: string };
    return sum === undefined || sum === checksum(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw new FleetError([cannotRead(folder, error)], { cause: error });
  }
}

/** The text of a plain file. A pipe without a writer would hold up an ordinary open for ever. */
function textOf(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new Error('it is not a file');
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

function cannotRead(path: string, error: unknown): Diagnostic {
  const why = error instanceof Error ? error.message : String(error);
  return diagnose('journal/cannot-read', { detail: `${path} cannot be read: ${why}.`, subject: namedSubject(path) });
}
