import { mkdir, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

let written = 0;

/**
 * Writes a file through a rename and a temporary name that no glob matches. No other write uses that name, because a program
 * cannot start while another write has its file open. A reader sees either the old or the new text.
 */
export async function replaceFile(path: string, text: string, mode = 0o644): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  written += 1;
  const temporary = join(dirname(path), `.sim-new-${process.pid}-${written}-${basename(path)}`);
  await writeFile(temporary, text, { mode });
  await rename(temporary, path);
}
