import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/diagnostic.ts';
import { namedSubject } from '../../model/subject.ts';

/**
 * Replaces a file so that a reader sees the old text or the new one, never half of either: temporary name in the
 * same folder, fsync, rename. @throws FleetError `cli/cannot-write`; the old text is then still there.
 */
export function replaceFile(path: string, text: string, mode = 0o644): void {
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    const file = openSync(temporary, 'wx', mode);
    try {
      // Unlike writeSync, which ends well with a part of the text where a disk is full.
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

/** The failure to write a path, with the reason of the system. */
export function cannotWrite(path: string, error: unknown): FleetError {
  const why = error instanceof Error ? error.message : String(error);
  const problem = diagnose('cli/cannot-write', {
    detail: `${path} cannot be written: ${why}.`,
    subject: namedSubject(path),
  });
  return new FleetError([problem], { cause: error });
}

function discard(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was never made.
  }
}
