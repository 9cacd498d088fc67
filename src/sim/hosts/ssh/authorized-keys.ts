import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { homeOf } from './exec-environment.ts';

/** Writable for the group or for everybody. */
const othersMayWrite = 0o022;

/**
 * The keys that may log in, `ssh-ed25519 AAAA…`, read as sshd reads them at each login: none where somebody else could
 * write the file or a folder on the way to it (`StrictModes`, which is on in the stock sshd_config of macOS).
 *
 * @see sshd(8) of macOS, AUTHORIZED_KEYS FILE FORMAT; lines with options are not modelled
 */
export async function authorizedKeys(root: string, user: string): Promise<readonly string[]> {
  const file = join(homeOf(root, user), '.ssh/authorized_keys');
  try {
    const modes = await Promise.all(
      [file, dirname(file), dirname(dirname(file))].map(async (path) => (await stat(path)).mode),
    );
    if (modes.some((mode) => (mode & othersMayWrite) !== 0)) return [];
    const lines = (await readFile(file, 'utf8')).split('\n');
    return lines.filter((line) => /^(?:ssh|ecdsa)-\S+ \S+/u.test(line));
  } catch {
    return [];
  }
}
