import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { mostRawBytes, type RawSecret } from './raw-secret.ts';

/** Where paths start. */
interface Places {
  readonly folder: string;
  readonly home: string;
}

/** The absolute path of a secret's file: `~/` is the home folder, relative paths start at the folder. */
function secretPath(path: string, { folder, home }: Places): string {
  if (path === '~' || path.startsWith('~/')) return join(home, path.slice(1));
  return isAbsolute(path) ? path : join(folder, path);
}

/** What stands in a file that belongs to this user, or to root, and that nobody else may read or write. */
export async function readSecretFile(path: string, places: Places): Promise<RawSecret> {
  const at = secretPath(path, places);
  let file: FileHandle;
  try {
    // A pipe without a writer would hold up an ordinary open for ever.
    file = await open(at, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    const why = code === 'ENOENT' || code === 'ENOTDIR' ? `${at} is not there.` : `${at} cannot be read (${code}).`;
    return { kind: 'refused', why, hint: 'Put the password into that file as its only line, with mode 600.' };
  }
  try {
    return await readOpened(file, at);
  } finally {
    await file.close();
  }
}

async function readOpened(file: FileHandle, at: string): Promise<RawSecret> {
  const found = await file.stat();
  const { mode, uid } = found;
  if (!found.isFile()) return { kind: 'refused', why: `${at} is no file.`, hint: 'Name a plain file.' };
  const hint = `Change the password, then: chmod 600 ${at}`;
  const own = process.getuid?.();
  if (own !== undefined && uid !== own && uid !== 0) {
    return { kind: 'exposed', why: `${at} belongs to another user (uid ${uid}).`, hint };
  }
  if ((mode & 0o077) !== 0) {
    const shown = (mode & 0o777).toString(8).padStart(3, '0');
    return { kind: 'exposed', why: `${at} has mode ${shown}: other accounts of this computer may reach it.`, hint };
  }
  const bytes = Buffer.alloc(mostRawBytes);
  const { bytesRead } = await file.read(bytes, 0, mostRawBytes, 0);
  return { kind: 'bytes', bytes: bytes.subarray(0, bytesRead) };
}
