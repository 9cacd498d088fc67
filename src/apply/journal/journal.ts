import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError, messageOf, systemCode } from '../../diagnostics/diagnostic.ts';
import { hideInFields, type ReadSecrets } from '../../diagnostics/hide-secrets.ts';
import type { JournalDocument, JournalIntent, JournalOutcome } from '../../model/files.generated.ts';
import type { EffectKind, StepClass, StepOutcome } from '../../model/step.ts';
import { namedSubject } from '../../model/subject.ts';
import { validateJournal } from './journal-validator.generated.ts';

/** A run's record on the controller. No run resumes from it, because the nodes are the source of truth. */
export type Journal = ReturnType<typeof openJournal>;

/** Per cluster. */
const mostRuns = 50;

/** A run id that sorts by time: `20261120T111844-5f3a9c`. */
export const newRunId = (now: Date): string =>
  `${now.toISOString().replaceAll(/[-:]|\.\d+Z$/g, '')}-${randomBytes(3).toString('hex')}`;

export const journalFolder = (stateFolder: string, cluster: string): string => join(stateFolder, 'journal', cluster);

const journalSuffix = '.ndjson';

/** Words of ours and names in the file, which readers compare. All other texts may quote a node. */
const comparedFields = new Set([
  ...['phase', 'node', 'step', 'ends', 'outcome', 'state', 'verdict', 'rung', 'names', 'placements', 'code'],
]);

/**
 * Creates a run's journal, a file that only its owner can read. Creates the folder if it is missing, and deletes older
 * journals beyond the last fifty.
 * @throws FleetError `journal/cannot-write`
 */
export function openJournal(folder: string, runId: string, secrets: ReadSecrets) {
  const path = join(folder, `${runId}${journalSuffix}`);
  let file: number | undefined = guarded(path, () => createIn(folder, path));
  let seq = 0;
  return {
    runId,
    /**
     * Appends one record, which is on disk when this function returns, so that nothing is sent without a record. Hides
     * secrets in it.
     * @throws FleetError `journal/cannot-write`
     */
    write: (entry: JournalEntry): void => {
      seq += 1;
      const record = { seq, runId, at: new Date().toISOString(), ...hideInFields(entry, secrets, comparedFields) };
      guarded(path, () => {
        try {
          append(file, `${JSON.stringify({ ...record, sum: checksum(record) })}\n`);
        } catch (error) {
          // On a full disk, an empty journal must not displace an older one.
          if (seq === 1 && file !== undefined) unlinkSync(path);
          throw error;
        }
      });
    },
    /** Can be called twice. */
    close: (): void => {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

/** The first 16 hexadecimal digits of the SHA-256 of a record as JSON. */
const checksum = (record: object): string =>
  createHash('sha256').update(JSON.stringify(record)).digest('hex').slice(0, 16);

function createIn(folder: string, path: string): number {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  deleteOldest(folder);
  const file = openSync(path, 'ax', 0o600);
  syncFolder(folder);
  // A new folder also needs a sync of its parent, which contains the entry.
  syncFolder(dirname(folder));
  return file;
}

function syncFolder(folder: string): void {
  const opened = openSync(folder, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

function append(file: number | undefined, text: string): void {
  if (file === undefined) throw new Error('it is already closed');
  const bytes = Buffer.from(text);
  if (writeSync(file, bytes) < bytes.length) throw new Error('only part of the record was written');
  fsyncSync(file);
}

function deleteOldest(folder: string): void {
  const names = readdirSync(folder).filter((name) => name.endsWith(journalSuffix));
  for (const name of names.sort().slice(0, Math.max(0, names.length - mostRuns + 1))) unlinkSync(join(folder, name));
}

function guarded<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const detail = `${path} cannot be written: ${messageOf(error)}.`;
    throw new FleetError([diagnose('journal/cannot-write', { detail, subject: namedSubject(path) })], { cause: error });
  }
}

/** The phase-specific part of a record. `Words` are values that the schema leaves open for other versions' journals. */
type EntryOf<Document, Words = unknown> = Document extends unknown
  ? Omit<Document, 'seq' | 'runId' | 'at' | 'sum' | keyof Words> & Words
  : never;

export type JournalEntry =
  | EntryOf<Exclude<JournalDocument, JournalIntent | JournalOutcome>>
  | EntryOf<JournalIntent, { readonly class: StepClass; readonly effect: EffectKind }>
  | EntryOf<JournalOutcome, { readonly outcome: StepOutcome }>;

export type JournalRecord = JournalEntry & Pick<JournalDocument, 'seq' | 'runId' | 'at'>;

interface ReadRecords {
  readonly records: readonly JournalRecord[];
  /** The number of damaged or missing records, without an incomplete last line. */
  readonly damaged: number;
}

export interface RecordedRun extends ReadRecords {
  readonly runId: string;
  /** False without a final record: the run was killed or is still running. */
  readonly isEnded: boolean;
}

/**
 * The recorded runs in a cluster's folder, newest first; empty if the folder does not exist. For each journal that
 * cannot be read, `problems` contains a `journal/cannot-read`.
 * @throws FleetError `journal/cannot-read` if the folder cannot be read
 */
export function readJournals(folder: string, most?: number) {
  const names = listed(folder)
    .filter((name) => name.endsWith(journalSuffix))
    .sort()
    .reverse()
    .slice(0, most);
  const found = names.map((name) => readOne(join(folder, name), name.slice(0, -journalSuffix.length)));
  return {
    runs: found.flatMap((one) => ('runId' in one ? [one] : [])),
    problems: found.flatMap((one) => ('code' in one ? [one] : [])),
  };
}

/** The runs in a cluster's folder, newest first; none if they cannot be read. */
export function readableRuns(folder: string, most?: number): readonly RecordedRun[] {
  try {
    return readJournals(folder, most).runs;
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    return [];
  }
}

function readOne(path: string, runId: string): RecordedRun | Diagnostic {
  try {
    const { records, damaged } = parseJournal(textOf(path));
    return { runId, records, damaged, isEnded: records.at(-1)?.phase === 'end' };
  } catch (error) {
    return { ...cannotRead(path, error), severity: 'warning' };
  }
}

export function parseJournal(text: string): ReadRecords {
  const lines = text.split('\n');
  const parsed = lines.map(parseRecord);
  const records = parsed.filter((one) => one !== undefined);
  const last = parsed.findLastIndex((one) => one !== undefined);
  const bad = parsed.slice(0, last).filter((one) => one === undefined).length;
  // Gaps in `seq` count both lost and damaged lines.
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
    if (systemCode(error) === 'ENOENT') return [];
    throw new FleetError([cannotRead(folder, error)], { cause: error });
  }
}

/** The text of a regular file. Opens the file without blocking, because a pipe without a writer would block forever. */
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
  const detail = `${path} cannot be read: ${messageOf(error)}.`;
  return diagnose('journal/cannot-read', { detail, subject: namedSubject(path) });
}
