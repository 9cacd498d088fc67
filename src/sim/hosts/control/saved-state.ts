import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const stateName = 'state.json';

/** What an earlier simulator left in this folder about the state of its fleet; undefined when there is nothing. */
export const readSavedState = (folder: string): Promise<string | undefined> =>
  readFile(join(folder, stateName), 'utf8').catch(() => undefined);

/** Keeps the state for the next simulator of this folder, by a temporary name and a rename. */
export async function saveState(folder: string, text: string): Promise<void> {
  const path = join(folder, stateName);
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** Forgets the state: the next simulator of this folder begins with new Macs. */
export const forgetState = (folder: string): Promise<void> => rm(join(folder, stateName), { force: true });
