import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dataFile, type NodeFile } from '../../model/node-files.ts';

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
/** What decides the environment of a command on a simulated node. */
interface EnvironmentOptions {
  /** Absolute folder that stands for `/` of the node. */
  readonly root: string;
  readonly user: string;
  /**
   * `<run id>.<node>.<boot>`: found again by the sweep, whatever a process does to its group, and refused by the
   * simulator when that boot session is over.
   */
  readonly mark: string;
  /** `LANG` and `LC_*` that the client sent and the server accepted. */
  readonly accepted?: Readonly<Record<string, string>>;
  /** `address port` of the client and of the server, as sshd gives them. */
  readonly connection?: { readonly client: string; readonly server: string };
}

/** The name of the variable that marks every process of a simulated fleet. */
export const markVariable = 'MW_SIM';

/** Set by the simulated sudo for what it runs; `id` and `whoami` look at it. */
export const rootMarkVariable = 'MW_SIM_SUDO';

/** Set by the simulated launchd for a service of an account: whose process it is. */
export const accountVariable = 'MW_SIM_ACCOUNT';

/** The home folder of an account, below the node's root; one whose name begins with `_` has an empty one, as on a Mac. */
export const homeOf = (root: string, user: string): string =>
  root + (user.startsWith('_') ? '/var/empty' : `/Users/${user}`);

/**
 * The whole environment of a command: what a Mac gives to a command over SSH, no LANG, no TMPDIR, nothing of the
 * simulator's own environment. The same for the ssh2 host and for a real sshd in front of the same root.
 *
 * @see shared facts about macOS: a non-interactive SSH command gets PATH=/usr/bin:/bin:/usr/sbin:/sbin only
 */
export function execEnvironment(options: EnvironmentOptions): Readonly<Record<string, string>> {
  const { root, user, mark, accepted, connection } = options;
  return {
    ...accepted,
    PATH: ['/usr/bin', '/bin', '/usr/sbin', '/sbin'].map((folder) => root + folder).join(':'),
    HOME: homeOf(root, user),
    USER: user,
    LOGNAME: user,
    SHELL: `${root}/bin/sh`,
    ...(connection && {
      SSH_CLIENT: `${connection.client} ${connection.server.split(' ')[1] ?? ''}`,
      SSH_CONNECTION: `${connection.client} ${connection.server}`,
    }),
    [markVariable]: mark,
  };
}
