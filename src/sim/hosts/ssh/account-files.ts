import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dataFile, type NodeFile } from '../../model/node-files.ts';
import { homeOf } from './exec-environment.ts';

/** Where sudo looks for more rules. */
export const sudoRulesPath = '/private/etc/sudoers.d';

/** The rule by which the ssh user needs no password: what a Mac of a fleet has when the model says `allowed`. */
export function dropInFiles(files: readonly NodeFile[], user: string): readonly NodeFile[] {
  const word = files.find(({ path }) => path === '/.sim/sudo')?.text.trim();
  const rule = `${user} ALL=(root) NOPASSWD: ALL\n`;
  return word === 'allowed' ? [dataFile(`${sudoRulesPath}/meshwright`, rule)] : [];
}

/** The home of the ssh user, and what the model says about the key in it. */
export interface AccountPlace {
  /** Absolute folder that stands for `/`. */
  readonly root: string;
  readonly user: string;
  /** The client's key. */
  readonly userKey: string;
  /** Whose files these are, where a node has users. */
  readonly owner?: { readonly userId: number; readonly groupId: number };
}

/** Outlives a simulator, so that the next one leaves alone what happened on the disk meanwhile. */
export const toldPath = '/.sim/has-key';

async function owned({ owner }: AccountPlace, path: string): Promise<void> {
  if (owner !== undefined) await chown(path, owner.userId, owner.groupId);
}

/**
 * Puts the key of this computer into `~/.ssh/authorized_keys`, or takes the file away, whenever the model changes its
 * mind; whatever happens on the node in between stays.
 */
export async function tellKey(place: AccountPlace, hasKey: boolean): Promise<void> {
  const { root, user, userKey } = place;
  const told = await readFile(join(root, toldPath), 'utf8').catch(() => '');
  const now = `${hasKey}\n`;
  if (told === now) return;
  const home = homeOf(root, user);
  const ssh = join(home, '.ssh');
  const keys = join(ssh, 'authorized_keys');
  await mkdir(home, { recursive: true });
  await owned(place, home);
  if (hasKey) {
    await mkdir(ssh, { recursive: true, mode: 0o700 });
    await writeFile(keys, `${userKey} simulated\n`, { mode: 0o600 });
    for (const path of [ssh, keys]) await owned(place, path);
  } else await rm(ssh, { recursive: true, force: true });
  await writeFile(join(root, toldPath), now);
}
