import { readFile, stat } from 'node:fs/promises';

/** The result of reading a file: its text, or that the file is absent or unreadable. */
export type FileSight =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable' };

/**
 * Returns a function that reads a value from a file, and rereads the file only if it has changed. A check costs only
 * one `stat`, so every request can check the file, and a new key is valid from the next request on.
 *
 * @param read derives the value; called only once for each version of the file
 */
export function watchedFile<T>(path: string, read: (sight: FileSight) => T): () => Promise<T> {
  let seen: { readonly mark: string; readonly value: T } | undefined;
  return async () => {
    const mark = await markOf(path);
    if (seen?.mark === mark) return seen.value;
    const value = read(mark === 'absent' ? { kind: 'absent' } : await sightOf(path));
    seen = { mark, value };
    return value;
  };
}

async function markOf(path: string): Promise<string> {
  try {
    // Files are replaced by renaming new ones into place.
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch (error) {
    return isAbsence(error) ? 'absent' : 'unreadable';
  }
}

async function sightOf(path: string): Promise<FileSight> {
  try {
    return { kind: 'text', text: await readFile(path, 'utf8') };
  } catch (error) {
    return { kind: isAbsence(error) ? 'absent' : 'unreadable' };
  }
}

const isAbsence = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
