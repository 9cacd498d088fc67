import { readFile, stat } from 'node:fs/promises';

/** What became of a file: its text, that there is none, or that it cannot be read. */
export type FileSight =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable' };

/**
 * A reader that gives the value of a file and reads it again only when it has changed. One look costs one `stat`, so
 * that a new key counts from the next request on.
 *
 * @param read makes the value; called once for each content
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
    // Whoever puts a file renames a new one into its place.
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
