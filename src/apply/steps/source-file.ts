import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/fleet-error.ts';
import { namedSubject } from '../../model/subject.ts';

/** Read at a time; smaller pieces make hashing slower. */
const pieceBytes = 1024 * 1024;

/** A file of the controller that is sent to nodes. */
export interface SourceFile {
  readonly sizeBytes: number;
  /** Its bytes from an offset to its end, or until the signal comes. */
  readonly from: (offset: number, signal: AbortSignal) => AsyncGenerator<Uint8Array>;
  /** The SHA-256 of its first bytes. @throws FleetError `send/source-unreadable` */
  readonly digest: (bytes: number, signal: AbortSignal) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** Opens a file of the controller. @throws FleetError `send/source-unreadable` */
export async function openSource(path: string): Promise<SourceFile> {
  const file = await open(path, 'r').catch((error: unknown) => {
    throw unreadable(path, error);
  });
  const { size } = await file.stat();
  const from = (offset: number, signal: AbortSignal, end = size): AsyncGenerator<Uint8Array> =>
    pieces(file, { path, offset, end, signal });
  return {
    sizeBytes: size,
    from: (offset, signal) => from(offset, signal),
    digest: async (bytes, signal) => {
      const hash = createHash('sha256');
      for await (const piece of from(0, signal, bytes)) hash.update(piece);
      return hash.digest('hex');
    },
    close: () => file.close(),
  };
}

interface Part {
  readonly path: string;
  readonly offset: number;
  readonly end: number;
  readonly signal: AbortSignal;
}

/** A new piece of memory for every read: what was handed on may still be on its way. */
async function* pieces(file: FileHandle, { path, offset, end, signal }: Part): AsyncGenerator<Uint8Array> {
  let at = offset;
  while (at < end && !signal.aborted) {
    const length = Math.min(pieceBytes, end - at);
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, at).catch((error: unknown) => {
      throw unreadable(path, error);
    });
    if (bytesRead === 0) throw unreadable(path, new Error('it became shorter'));
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

function unreadable(path: string, error: unknown): FleetError {
  const why = error instanceof Error ? error.message : String(error);
  const problem = diagnose('send/source-unreadable', {
    subject: namedSubject(path),
    detail: `${path} cannot be read: ${why}.`,
  });
  return new FleetError([problem], { cause: error });
}
