import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import { namedSubject } from '../../model/subject.ts';
import type { Prose } from '../../model/text/prose.ts';

/** What decides whether others may change a file or a folder. */
interface FileOwner {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** A file with the folders above it: who may write one of them may put another file in its place. */
interface FileOwners extends FileOwner {
  /** From its own folder up to the root. Empty for what is no plain file. */
  readonly folders: readonly (FileOwner & { readonly path: string })[];
}

/** A file that has been read. */
export interface ReadFile extends FileOwners {
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

/** How long a silent pipe is read, and one into which no program writes. In milliseconds. */
const [silentMs, writerlessMs] = [10_000, 2_000];

function readWhole(path: string): ReadFile {
  // An ordinary open of a pipe waits for a writer without end, and this process hears no signal meanwhile.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(file);
    const bytes = readOpened(file, found.isFIFO());
    const { mode, uid, gid } = found;
    return { bytes, text: bytes.toString('utf8'), mode, uid, gid, folders: found.isFile() ? foldersAbove(path) : [] };
  } finally {
    closeSync(file);
  }
}

function readOpened(file: number, isPipe: boolean): Buffer {
  const chunks: Uint8Array[] = [];
  let sinceMs = performance.now();
  for (let total = 0; total < maxBytes; ) {
    const chunk = new Uint8Array(65_536);
    const count = readSome(file, chunk);
    if (count === 0 && !(isPipe && total === 0)) break;
    if (count !== undefined && count > 0) {
      chunks.push(chunk.subarray(0, count));
      total += count;
      sinceMs = performance.now();
    } else if (performance.now() - sinceMs >= (count === 0 ? writerlessMs : silentMs)) {
      throw Object.assign(new Error('silent'), { code: 'SILENT' });
    } else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  }
  return Buffer.concat(chunks);
}

/** How many bytes came; undefined when there are none yet. */
function readSome(file: number, chunk: Uint8Array): number | undefined {
  try {
    return readSync(file, chunk);
  } catch (error) {
    if (errorCode(error) === 'EAGAIN') return undefined;
    throw error;
  }
}

function foldersAbove(path: string): ReadFile['folders'] {
  const found: (FileOwner & { readonly path: string })[] = [];
  let at = realpathSync(path);
  while (at !== dirname(at)) {
    at = dirname(at);
    const { mode, uid, gid } = statSync(at);
    found.push({ path: at, mode, uid, gid });
  }
  return found;
}

const errorCode = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  ENOTDIR: 'is not there: a part of its path is a file',
  EISDIR: 'is a folder',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
  ELOOP: 'is a link that leads back to itself',
  SILENT: 'is a pipe from which nothing comes',
};

function cannotRead(shown: string, error: unknown): FleetError {
  const code = errorCode(error);
  const known = typeof code === 'string' ? reasons[code] : undefined;
  const why = known ?? `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  const hint = typeof code === 'string' ? hintFor(code, shown) : undefined;
  const problem = diagnose('cli/cannot-read', {
    detail: `${shown} ${why}.`,
    subject: namedSubject(shown),
    ...(hint && { hint }),
  });
  return new FleetError([problem], { cause: error });
}

/** A hint that fits better than that of the code. */
function hintFor(code: string, shown: string): string | undefined {
  if (code === 'EISDIR') return `Name the file in it: ${shown.replace(/\/$/, '')}/cluster.yaml`;
  return code === 'SILENT' ? 'Start the program that writes to it first, or name a file.' : undefined;
}

/** Who runs this process. */
interface Reader {
  readonly uid: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Groups of accounts that are root or, on macOS, may become root: wheel and admin. */
const rootGroups: readonly number[] = process.platform === 'darwin' ? [0, 80] : [0];

/**
 * Whether others may change a file that decides what is done to the nodes, or replace it: it or a folder above it is
 * writable by everybody or by a group, or belongs to a user who is neither this one nor root, nor the one who became
 * root through sudo. A group with the number of its user, or of this one, is that user's own, as on Debian and Fedora and
 * in containers with an `fsGroup`. A warning for people, an error when `CI=true`.
 */
export function openToOthers(shown: string, file: FileOwners, reader: Reader): readonly Diagnostic[] {
  if ((file.mode & 0o170000) !== 0o100000) return [];
  const { uid, env } = reader;
  const severity = env['CI'] === 'true' ? 'error' : 'warning';
  const trusted = [0, uid, ...(uid === 0 && env['SUDO_UID'] ? [Number(env['SUDO_UID'])] : [])];
  const problem = (detail: string, hint: Prose): Diagnostic =>
    diagnose('cli/file-open-to-others', { severity, subject: namedSubject(shown), detail, hint });
  const own = [
    ...writers(file, reader).map((who) => problem(`${who} may write ${shown}.`, `Close it: chmod go-w ${shown}`)),
    ...(trusted.includes(file.uid)
      ? []
      : [
          problem(
            `${shown} belongs to user ${file.uid}, and you are user ${uid}.`,
            `Make it yours: chown ${uid} ${shown}`,
          ),
        ]),
  ];
  // In a folder with the sticky bit, such as /tmp, each user replaces only their own files.
  const folder = file.folders.find(
    (one) => !trusted.includes(one.uid) || (writers(one, reader).length > 0 && (one.mode & 0o1000) === 0),
  );
  if (folder === undefined) return own;
  const [who = `User ${folder.uid}`] = trusted.includes(folder.uid) ? writers(folder, reader) : [];
  const hint = trusted.includes(folder.uid)
    ? `Close it: chmod go-w ${folder.path}`
    : 'Keep it in a folder of your own.';
  return [...own, problem(`${who} may replace ${shown}: the folder ${folder.path} is open to them.`, hint)];
}

/** Who else than its user may write a file or a folder, at most one. */
function writers({ mode, uid, gid }: FileOwner, reader: Reader): readonly string[] {
  if ((mode & 0o002) !== 0) return ['Every user of this computer'];
  const isGroups = (mode & 0o020) !== 0 && ![uid, reader.uid, ...rootGroups].includes(gid);
  return isGroups ? [`Every member of group ${gid}`] : [];
}

/** Who runs this process, from the process itself. */
export const thisReader = (env: Reader['env']): Reader => ({ uid: process.getuid?.() ?? 0, env });
