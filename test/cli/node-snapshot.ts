import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Paths that are not compared: the simulator's own folder, temporary files, and files of macOS. launchd keeps an entry
 * for every label that was ever enabled, and no command removes it.
 *
 * @see launchctl(1): enable, disable
 */
const ignored = ['.sim', 'tmp', 'private/tmp', 'private/var/db'];

function entries(root: string, path: string): readonly string[] {
  const full = join(root, path);
  const stat = lstatSync(full);
  if (ignored.includes(path)) return [];
  if (stat.isSymbolicLink()) return [`${path} -> ${readlinkSync(full)}`];
  if (!stat.isDirectory()) {
    const digest = createHash('sha256').update(readFileSync(full)).digest('hex').slice(0, 12);
    return [`${path} ${(stat.mode & 0o7777).toString(8)} ${digest}`];
  }
  const inner = readdirSync(full)
    .sort()
    .flatMap((name) => entries(root, path === '' ? name : `${path}/${name}`));
  return path === '' ? inner : [`${path}/ ${(stat.mode & 0o7777).toString(8)}`, ...inner];
}

/**
 * Every file and folder of a simulated Mac, with its mode and a digest of its contents; also the tools' stored answers.
 */
export const fileTree = (root: string): readonly string[] => [...entries(root, ''), ...entries(root, '.sim/answers')];

/** The labels of all services in the simulated launchd. */
export const serviceList = (root: string): readonly string[] => {
  try {
    return readdirSync(join(root, '.sim/launchd')).sort();
  } catch {
    return [];
  }
};
