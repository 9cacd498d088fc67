import { chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { dataFile, type NodeFile } from '../node-files.ts';
import { askClientPath } from './ask-client.ts';
import { baseToolFiles, hostTool, linkedTools } from './base-tools/all-base-tools.ts';
import { homeOf } from './exec-environment.ts';

/** What a fresh root is made for. */
export interface NodeRootOptions {
  /** Absolute folder that stands for `/`; whatever lies there is removed first. */
  readonly root: string;
  readonly user: string;
  /** The client's key, for `~/.ssh/authorized_keys`. */
  readonly userKey: string;
  readonly platform: NodeJS.Platform;
  /** The program by which the tools reach the simulator. */
  readonly askText: string;
}

/** The file tree of one simulated node. */
export interface NodeRoot {
  /**
   * Makes the rendered files be exactly these: each written to a temporary name and renamed, so that a reader sees
   * the old or the new one; those that are no longer there are deleted.
   */
  readonly update: (files: readonly NodeFile[]) => Promise<void>;
  /** The text of a file when it is no longer as it was written last; empty when it is gone. */
  readonly edited: (path: string) => Promise<string | undefined>;
}

const folders = [
  '/.sim',
  '/Applications',
  '/Library/Application Support',
  '/Library/LaunchDaemons',
  '/Library/Logs',
  '/Library/Preferences/SystemConfiguration',
  '/System/Library/LaunchDaemons',
  '/System/Volumes/Data',
  '/Users/Shared',
  '/Volumes',
  '/bin',
  '/opt',
  '/private/etc',
  '/private/tmp',
  '/private/var/log',
  '/private/var/root',
  '/private/var/run',
  '/private/var/tmp',
  '/sbin',
  '/usr/bin',
  '/usr/libexec',
  '/usr/local/bin',
  '/usr/sbin',
];

/** On a Mac these three are links into /private. */
const privateLinks = ['etc', 'tmp', 'var'];

function checkedPath(path: string): string {
  if (!path.startsWith('/') || path.split('/').some((part) => part === '..')) {
    throw new Error(`a simulated file needs an absolute path, not ${path}`);
  }
  return path;
}

/** A file that was there before is replaced by a rename; a new one that nobody can be reading is written in place. */
async function place(root: string, file: NodeFile, isNew: boolean): Promise<void> {
  const path = join(root, file.path);
  const name = file.path.slice(file.path.lastIndexOf('/') + 1);
  const written = isNew ? path : join(dirname(path), `.sim-new-${name}`);
  await writeFile(written, file.text, { mode: file.isExecutable ? 0o755 : 0o644 });
  if (!isNew) await rename(written, path);
}

const isSame = (a: NodeFile | undefined, b: NodeFile): boolean =>
  a !== undefined && a.text === b.text && a.isExecutable === b.isExecutable;

async function createHome({ root, user, userKey }: NodeRootOptions): Promise<void> {
  const ssh = join(homeOf(root, user), '.ssh');
  await mkdir(ssh, { recursive: true, mode: 0o700 });
  await writeFile(join(ssh, 'authorized_keys'), `${userKey} simulated\n`, { mode: 0o600 });
}

/** Makes the root anew: the folders that every Mac has, the home of the ssh user, the base tools. */
export async function createNodeRoot(options: NodeRootOptions): Promise<NodeRoot> {
  const { root, user, platform, askText } = options;
  await rm(root, { recursive: true, force: true });
  for (const folder of folders) await mkdir(join(root, folder), { recursive: true });
  for (const name of privateLinks) await symlink(`private/${name}`, join(root, name));
  for (const folder of ['/private/tmp', '/private/var/tmp']) await chmod(join(root, folder), 0o1777);
  for (const { path, name } of linkedTools) {
    const target = hostTool(name);
    if (target !== undefined) await symlink(target, join(root, path));
  }
  await createHome(options);
  await writeFile(join(root, '/.sim/unknown'), '');
  const base = [...baseToolFiles(user, platform), dataFile(askClientPath, askText)];
  let present: ReadonlyMap<string, NodeFile> | undefined;
  return {
    edited: async (path) => {
      const text = await readFile(join(root, path), 'utf8').catch(() => '');
      return text === present?.get(path)?.text ? undefined : text;
    },
    update: async (files) => {
      const wanted = new Map([...base, ...files].map((file) => [file.path, file]));
      const before = present;
      const changed = [...wanted.values()].filter((file) => !isSame(before?.get(file.path), file));
      const gone = [...(before?.keys() ?? [])].filter((path) => !wanted.has(path));
      const parents = new Set(changed.map((file) => dirname(join(root, checkedPath(file.path)))));
      await Promise.all([...parents].map((parent) => mkdir(parent, { recursive: true })));
      await Promise.all(changed.map((file) => place(root, file, before === undefined)));
      await Promise.all(gone.map((path) => rm(join(root, path), { force: true })));
      present = wanted;
    },
  };
}
