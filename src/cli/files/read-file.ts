import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { diagnose, failure } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, type FleetError, messageOf, systemCode } from '../../diagnostics/diagnostic.ts';
import { given } from '../../model/given.ts';
import { namedSubject } from '../../model/subject.ts';
import type { Prose } from '../../model/text/prose.ts';

/** The owner and permissions that determine whether others can change a file or folder. */
interface FileOwner {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** A file with its parent folders, because anyone who can write to one of the folders can replace the file. */
interface FileOwners extends FileOwner {
  /** From the file's folder up to the root. Empty unless the file is a regular file. */
  readonly folders: readonly (FileOwner & { readonly path: string })[];
}

export interface ReadFile extends FileOwners {
  readonly bytes: Uint8Array;
  /** The bytes decoded as UTF-8, for quoting lines. */
  readonly text: string;
}

/** The maximum size of our files, which also stops reading from an endless device. */
const maxBytes = 1_048_576;

/** The displayed path: relative to the current folder if the file is below it. */
export function shownPath(folder: string, path: string): string {
  const near = relative(folder, path);
  return near === '' || near.startsWith('..') ? path : near;
}

/** The whole file, or undefined if it does not exist. @throws FleetError `cli/cannot-read`. */
export function readIfThere(path: string, shown: string): ReadFile | undefined {
  try {
    return readWhole(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
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

/** Time limits in milliseconds for a pipe whose writer is silent, and for a pipe without a writer. */
const [silentMs, writerlessMs] = [10_000, 2_000];

function readWhole(path: string): ReadFile {
  // A blocking open of a pipe would wait for a writer forever, and block signals in the meantime.
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

/** The number of bytes read; undefined if none are available yet. */
function readSome(file: number, chunk: Uint8Array): number | undefined {
  try {
    return readSync(file, chunk);
  } catch (error) {
    if (systemCode(error) === 'EAGAIN') return undefined;
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

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist: a part of its path is a file',
  EISDIR: 'is a folder',
  EACCES: 'cannot be read: this user has no permission',
  EPERM: 'cannot be read: this user has no permission',
  ELOOP: 'is a link that leads back to itself',
  SILENT: 'is a pipe without data',
};

function cannotRead(shown: string, error: unknown): FleetError {
  const code = systemCode(error) ?? '';
  const detail = `${shown} ${reasons[code] ?? `cannot be read: ${messageOf(error)}`}.`;
  const fields = { detail, subject: namedSubject(shown), ...given({ hint: hintFor(code, shown) }) };
  return failure('cli/cannot-read', fields, { cause: error });
}

/** A hint that is more specific than the code's own. */
function hintFor(code: string, shown: string): string | undefined {
  if (code === 'EISDIR') return `Name the file in this folder: ${shown.replace(/\/$/, '')}/cluster.yaml`;
  return code === 'SILENT' ? 'Start the program that writes to the pipe first, or name a file.' : undefined;
}

interface Reader {
  readonly uid: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Groups whose members are root or, on macOS, can become root: wheel and admin. */
const rootGroups: readonly number[] = process.platform === 'darwin' ? [0, 80] : [0];

/**
 * Warns if other users can change or replace a file that determines what is done to the nodes. The file or a parent
 * folder is then writable by others or a group, or its owner is neither this user, root, nor the user who ran sudo. A
 * group with the user's own number is private, as on Debian and Fedora and in containers with an `fsGroup`. With
 * `CI=true`, the warning is an error.
 */
export function openToOthers(shown: string, file: FileOwners, reader: Reader): readonly Diagnostic[] {
  if ((file.mode & 0o170000) !== 0o100000) return [];
  const { uid, env } = reader;
  const severity = env['CI'] === 'true' ? 'error' : 'warning';
  const trusted = [0, uid, ...(uid === 0 && env['SUDO_UID'] ? [Number(env['SUDO_UID'])] : [])];
  const problem = (detail: string, hint: Prose): Diagnostic =>
    diagnose('cli/file-open-to-others', { severity, subject: namedSubject(shown), detail, hint });
  const own = [
    ...writers(file, reader).map((who) =>
      problem(`${who} can change ${shown}.`, `Remove their permission: chmod go-w ${shown}`),
    ),
    ...(trusted.includes(file.uid)
      ? []
      : [
          problem(
            `${shown} belongs to user ${file.uid}, but you are user ${uid}.`,
            `Take ownership: chown ${uid} ${shown}`,
          ),
        ]),
  ];
  // In a folder with the sticky bit, such as /tmp, users can replace only their own files.
  const folder = file.folders.find(
    (one) => !trusted.includes(one.uid) || (writers(one, reader).length > 0 && (one.mode & 0o1000) === 0),
  );
  if (folder === undefined) return own;
  const [who = `User ${folder.uid}`] = trusted.includes(folder.uid) ? writers(folder, reader) : [];
  const hint = trusted.includes(folder.uid)
    ? `Remove their permission: chmod go-w ${folder.path}`
    : 'Move the file to a folder of your own.';
  return [...own, problem(`${who} can replace ${shown}, because they can write to the folder ${folder.path}.`, hint)];
}

/** The users other than the owner who can write to a file or folder; at most one entry. */
function writers({ mode, uid, gid }: FileOwner, reader: Reader): readonly string[] {
  if ((mode & 0o002) !== 0) return ['Every user on this computer'];
  const isGroups = (mode & 0o020) !== 0 && ![uid, reader.uid, ...rootGroups].includes(gid);
  return isGroups ? [`Every member of group ${gid}`] : [];
}

/** This process's user, from the process itself. */
export const thisReader = (env: Reader['env']): Reader => ({ uid: process.getuid?.() ?? 0, env });
