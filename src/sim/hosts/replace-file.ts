import { mkdir, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Writes a file through a temporary name, which no glob matches, and a rename. A reader sees the old text or the new
 * one.
 */
export async function replaceFile(path: string, text: string, mode = 0o644): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = join(dirname(path), `.sim-new-${basename(path)}`);
  await writeFile(temporary, text, { mode });
  await rename(temporary, path);
}
