import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { failure } from '../../diagnostics/diagnose.ts';
import { type FleetError, messageOf, systemCode } from '../../diagnostics/diagnostic.ts';
import { namedSubject } from '../../model/subject.ts';

/** A mark exists only while a file is read and written. An older mark was left by a process that died. */
const staleMs = 10_000;
const patienceMs = 15_000;
const pauseMs = 20;

/** Creates the mark; false if it already exists. */
function mark(path: string, ownMark: string): boolean {
  try {
    const file = openSync(path, 'wx', 0o600);
    writeSync(file, ownMark);
    closeSync(file);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Removes an abandoned mark. If several processes try, one renames the mark, and the others find nothing. */
function clearStale(path: string): void {
  try {
    if (Date.now() - statSync(path).mtimeMs < staleMs) return;
    const aside = `${path}.${randomBytes(4).toString('hex')}`;
    renameSync(path, aside);
    unlinkSync(aside);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}

function release(path: string, ownMark: string): void {
  try {
    if (readFileSync(path, 'utf8') === ownMark) unlinkSync(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}

/**
 * Runs `act` while no other meshwright process uses this file. Creates the mark `<path>.held` exclusively and removes
 * it afterwards. An abandoned mark expires after ten seconds.
 * @throws FleetError `cli/cannot-write` if the mark cannot be created, or if another process keeps it
 */
export async function useFileAlone<T>(path: string, act: () => T): Promise<T> {
  const markPath = `${path}.held`;
  const ownMark = randomBytes(8).toString('hex');
  const end = Date.now() + patienceMs;
  try {
    while (!mark(markPath, ownMark)) {
      clearStale(markPath);
      if (Date.now() > end) throw new Error(`another meshwright process is using it (${markPath})`);
      await sleep(pauseMs);
    }
  } catch (error) {
    throw cannotWrite(path, error);
  }
  try {
    return act();
  } finally {
    release(markPath, ownMark);
  }
}

/**
 * Replaces a file atomically by a temporary file in the same folder, fsync, and rename.
 * @throws FleetError `cli/cannot-write`; the old text is then unchanged
 */
export function replaceFile(path: string, text: string | Uint8Array, mode = 0o644): void {
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    const file = openSync(temporary, 'wx', mode);
    try {
      // On a full disk, writeSync would succeed after writing only part of the text.
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    discard(temporary);
    throw cannotWrite(path, error);
  }
}

/** Runs an action that writes to a path. @throws FleetError `cli/cannot-write` for any failure */
export function writingTo<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/** The error for a path that cannot be written, with the operating system's reason. */
export function cannotWrite(path: string, error: unknown): FleetError {
  const detail = `${path} cannot be written: ${messageOf(error)}.`;
  return failure('cli/cannot-write', { detail, subject: namedSubject(path) }, { cause: error });
}

function discard(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The temporary file was never created.
  }
}
