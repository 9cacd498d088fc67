import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { relative } from 'node:path';
import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { FleetError } from '../diagnostics/fleet-error.ts';

/** What decides whether others may change a file. */
export interface FileOwner {
  readonly mode: number;
  readonly uid: number;
}

/** A file that has been read. */
export interface ReadFile extends FileOwner {
  readonly bytes: Uint8Array;
  /** The bytes as UTF-8, for showing lines of it. */
  readonly text: string;
}

/** More than any file of ours may have; a device without an end is read no further. */
const maxBytes = 1_048_576;

/** How a path is shown: relative to the current folder when that is shorter to read. */
export function shownPath(folder: string, path: string): string {
  const near = relative(folder, path);
  return near === '' || near.startsWith('..') ? path : near;
}

/** A whole file, or undefined when there is none. @throws FleetError `cli/cannot-read`. */
export function readIfThere(path: string, shown: string): ReadFile | undefined {
  try {
    return readWhole(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') return undefined;
    throw cannotRead(shown, error);
  }
}

/** A whole file. @throws FleetError `cli/cannot-read`. */
export function readFile(path: string, shown: string): ReadFile {
  try {
    return readWhole(path);
  } catch (error) {
    throw cannotRead(shown, error);
  }
}

function readWhole(path: string): ReadFile {
  const file = openSync(path, 'r');
  try {
    const { mode, uid } = fstatSync(file);
    const chunks: Uint8Array[] = [];
    for (let total = 0; total < maxBytes; ) {
      const chunk = new Uint8Array(65_536);
      const count = readSync(file, chunk);
      if (count === 0) break;
      chunks.push(chunk.subarray(0, count));
      total += count;
    }
    const bytes = Buffer.concat(chunks);
    return { bytes, text: bytes.toString('utf8'), mode, uid };
  } finally {
    closeSync(file);
  }
}

const errorCode = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  ENOTDIR: 'is not there: a part of its path is a file',
  EISDIR: 'is a folder',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
  ELOOP: 'is a link that leads back to itself',
};

function cannotRead(shown: string, error: unknown): FleetError {
  const code = errorCode(error);
  const known = typeof code === 'string' ? reasons[code] : undefined;
  const why = known ?? `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  const hint = code === 'EISDIR' ? { hint: `Name the file in it: ${shown.replace(/\/$/, '')}/cluster.yaml` } : {};
  const problem = diagnose('cli/cannot-read', { detail: `${shown} ${why}.`, subject: shown, ...hint });
  return new FleetError([problem], { cause: error });
}

/** Who runs this process. */
export interface Reader {
  readonly uid: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Whether others may change a file that decides what is done to the nodes: it is writable by everybody, or belongs to
 * somebody who is neither this user nor root, nor the one who became root through sudo. A warning for people, an
 * error when `CI=true`.
 */
export function openToOthers(shown: string, file: FileOwner, reader: Reader): readonly Diagnostic[] {
  const { uid, env } = reader;
  const severity = env['CI'] === 'true' ? 'error' : 'warning';
  const trusted = [0, uid, ...(uid === 0 && env['SUDO_UID'] ? [Number(env['SUDO_UID'])] : [])];
  const isRegular = (file.mode & 0o170000) === 0o100000;
  const problem = (detail: string, hint: string): Diagnostic =>
    diagnose('cli/file-open-to-others', { severity, subject: shown, detail, hint });
  if (!isRegular) return [];
  return [
    ...((file.mode & 0o002) === 0
      ? []
      : [problem(`Every user of this computer may write ${shown}.`, `Close it: chmod o-w ${shown}`)]),
    ...(trusted.includes(file.uid)
      ? []
      : [
          problem(
            `${shown} belongs to user ${file.uid}, and you are user ${uid}.`,
            `Make it yours: chown ${uid} ${shown}`,
          ),
        ]),
  ];
}

/** Who runs this process, from the process itself. */
export const thisReader = (env: Reader['env']): Reader => ({ uid: process.getuid?.() ?? 0, env });
