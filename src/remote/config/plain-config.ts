import { constants } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { errorCodes } from '../error-text.ts';
import { matchesPattern } from '../keys/known-hosts.ts';
import { judgeConfigLine } from './ssh-config.ts';

const maxDepth = 8;

/** Text of a file; undefined when there is none. Anything else that is wrong with it is thrown. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    // An ordinary open of a pipe waits for a writer without end.
    return await readFile(file, { encoding: 'utf8', flag: constants.O_RDONLY | constants.O_NONBLOCK });
  } catch (error) {
    if (errorCodes(error).some((code) => code === 'ENOENT' || code === 'ENOTDIR')) return undefined;
    throw error;
  }
}

async function included(pattern: string, folder: string): Promise<readonly string[] | undefined> {
  const path = resolve(folder, pattern);
  if (/[*?[\]]/u.test(dirname(path)) || /[[\]]/u.test(basename(path))) return undefined;
  if (!/[*?]/u.test(basename(path))) return [path];
  const names = await readdir(dirname(path)).catch(() => []);
  return names.filter((name) => matchesPattern(name, basename(path))).map((name) => join(dirname(path), name));
}

/** An ssh_config, and the folder against which ssh resolves every relative Include in it, however deep. */
export interface ConfigFile {
  readonly file: string;
  /** `~/.ssh` for the user's own file and one given with `-F`, `/etc/ssh` for the machine's. @see ssh_config(5) */
  readonly includeFolder: string;
}

/**
 * Whether an ssh_config, with everything it includes, leaves every setting that matters at its default, so that
 * `ssh -G` need not be asked. A file that does not exist does; one that cannot be read does not.
 */
export async function isPlainConfig({ file, includeFolder }: ConfigFile, depth = 0): Promise<boolean> {
  const text = await readIfThere(file).catch(() => 'unreadable');
  if (text === undefined) return true;
  if (depth > maxDepth) return false;
  const lines = text.split('\n').map(judgeConfigLine);
  if (lines.some((line) => line.kind === 'relevant')) return false;
  const patterns = lines.flatMap((line) => (line.kind === 'include' ? line.patterns : []));
  for (const pattern of patterns) {
    const files = await included(pattern, includeFolder);
    if (files === undefined) return false;
    for (const one of files) if (!(await isPlainConfig({ file: one, includeFolder }, depth + 1))) return false;
  }
  return true;
}
