import { chmod, chown, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { preferencesPath } from '../model/network.ts';
import { dataFile, type NodeFile } from '../model/node-files.ts';
import { rdmaClientsPath } from '../model/rdma.ts';
import { baseToolFiles, hostTool, linkedTools } from './base-tools/all-base-tools.ts';
import { doubleFiles } from './base-tools/archives.ts';
import { replaceFile } from './replace-file.ts';
import { homeOf, sudoRulesPath } from './ssh/ssh-user.ts';

/** What a fresh root is made for. */
interface NodeRootOptions {
  /** Absolute folder that stands for `/`. */
  readonly root: string;
  readonly user: string;
  /** The client's key. */
  readonly userKey: string;
  /** Whose files those of the ssh user are, where a node has users. */
  readonly owner?: { readonly userId: number; readonly groupId: number };
  /** The socket by which the tools reach the simulator; `/.sim/socket` of a node that has a root of its own when absent. */
  readonly askPath?: string;
  /** The tools of a Mac below those that are rendered; those of this machine behind their gates when absent. */
  readonly baseFiles?: readonly NodeFile[];
  /** Whether what lies there is the disk of this Mac; otherwise, and when absent, it is removed first. */
  readonly isKept?: boolean;
}

const folders = [
  '/.sim',
  rdmaClientsPath,
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
  sudoRulesPath,
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
  const mode = file.isExecutable ? 0o755 : 0o644;
  if (isNew) await writeFile(join(root, file.path), file.text, { mode });
  else await replaceFile(join(root, file.path), file.text, mode);
}

const isSame = (a: NodeFile | undefined, b: NodeFile): boolean =>
  a !== undefined && a.text === b.text && a.isExecutable === b.isExecutable;

/** Empties what macOS empties at every start. */
async function clearVolatile(root: string): Promise<void> {
  for (const folder of ['/private/tmp', '/private/var/run', rdmaClientsPath]) {
    for (const name of await readdir(join(root, folder)).catch(() => [])) {
      await rm(join(root, folder, name), { recursive: true, force: true });
    }
  }
}

/** Where people and programs put what a Mac does not come with. */
const filledFolders = [
  '/Applications',
  '/Library/Application Support',
  '/Library/LaunchDaemons',
  '/Library/Logs',
  '/Users',
  '/Volumes',
  '/opt',
  sudoRulesPath,
  '/private/var/db',
  '/private/var/log',
  '/private/var/root',
  '/usr/local/bin',
];

const ownerPath = '/.sim/mac';

/** Moves what is in these folders, with whether the key was put there, from one place to another. */
async function moveFilled(from: string, to: string): Promise<void> {
  for (const folder of filledFolders) {
    for (const name of await readdir(join(from, folder)).catch(() => [])) {
      await mkdir(join(to, folder), { recursive: true });
      await rename(join(from, folder, name), join(to, folder, name));
    }
  }
  await mkdir(join(to, dirname(toldPath)), { recursive: true });
  await rename(join(from, toldPath), join(to, toldPath)).catch(() => undefined);
}

/** Takes the disk of one Mac out, and puts that of the other in: one that comes back ends the one that replaced it. */
async function exchangeDisk(root: string, before: string, after: string): Promise<void> {
  const outgoing = join(root, '/.sim/disks', before);
  const incoming = join(root, '/.sim/disks', after);
  const isReturn = await stat(incoming).then(
    () => true,
    () => false,
  );
  await moveFilled(root, outgoing);
  if (!isReturn) return;
  await moveFilled(incoming, root);
  for (const disk of [incoming, outgoing]) await rm(disk, { recursive: true, force: true });
}

const renderedList = '/.sim/rendered';

/** Takes away what an earlier simulator rendered and this one may not. */
async function removeRendered(root: string): Promise<void> {
  const list = await readFile(join(root, renderedList), 'utf8').catch(() => '');
  for (const path of list.split('\n').filter((line) => line !== '')) await rm(join(root, path), { force: true });
}

/** The list is only written when it changes: it is read by the next simulator of this folder. */
async function noteRendered(
  root: string,
  before: ReadonlyMap<string, NodeFile> | undefined,
  after: ReadonlyMap<string, NodeFile>,
): Promise<void> {
  if (before?.size === after.size && [...after.keys()].every((path) => before.has(path))) return;
  const list = [...after.keys()].filter((path) => path !== preferencesPath);
  await writeFile(join(root, renderedList), list.map((path) => `${path}\n`).join(''));
}

async function link(target: string, path: string): Promise<void> {
  await rm(path, { force: true });
  await symlink(target, path);
}

/**
 * Makes the root: the folders that every Mac has, the home of the ssh user, the base tools. A kept one has what a
 * start of the Mac leaves of it.
 */
export async function createNodeRoot(options: NodeRootOptions) {
  const { root, user, askPath, isKept } = options;
  if (isKept === true) await removeRendered(root);
  else await rm(root, { recursive: true, force: true });
  for (const folder of [...folders, `/Users/${user}`]) await mkdir(join(root, folder), { recursive: true });
  for (const name of privateLinks) await link(`private/${name}`, join(root, name));
  await clearVolatile(root);
  for (const folder of ['/private/tmp', '/private/var/tmp', rdmaClientsPath]) await chmod(join(root, folder), 0o1777);
  for (const path of options.baseFiles === undefined ? linkedTools : []) {
    const target = hostTool(basename(path));
    if (target !== undefined) await link(target, join(root, path));
  }
  await writeFile(join(root, '/.sim/unknown'), '');
  const own = options.baseFiles ?? [...baseToolFiles(user), ...doubleFiles()];
  const base = [...own, dataFile('/.sim/ask', askPath === undefined ? ownAskText : askClientText(askPath))];
  let present: ReadonlyMap<string, NodeFile> | undefined;
  let last: readonly NodeFile[] | undefined;
  let owner = await readFile(join(root, ownerPath), 'utf8').catch(() => undefined);
  const isOfAnother = (mac: string | undefined): boolean => mac !== undefined && owner !== undefined && owner !== mac;
  /** Whether another disk was put in, of which nothing is rendered yet. */
  const belongTo = async (mac: string | undefined): Promise<boolean> => {
    if (mac === undefined || mac === owner) return false;
    const before = owner;
    owner = mac;
    if (before !== undefined) await exchangeDisk(root, before, mac);
    await mkdir(join(root, `/Users/${user}`), { recursive: true });
    await writeFile(join(root, ownerPath), mac);
    return before !== undefined;
  };
  return {
    clearVolatile: (): Promise<void> => clearVolatile(root),
    isOfAnother,
    /** The text of a file when it is no longer as it was written last; empty when it is gone. */
    edited: async (path: string): Promise<string | undefined> => {
      const text = await readFile(join(root, path), 'utf8').catch(() => '');
      return text === present?.get(path)?.text ? undefined : text;
    },
    /**
     * Makes the rendered files be exactly these: each written to a temporary name and renamed, so that a reader sees
     * the old or the new one; those that are no longer there are deleted. For another Mac than before, the disk of that
     * one takes the place of this one, which is kept for its return: an empty disk when that Mac was never here.
     *
     * @param hasKey whether the model says that the client's key is accepted; yes when absent
     * @param mac whose disk is wanted; always the same when absent
     */
    update: async (files: readonly NodeFile[], hasKey = true, mac?: string): Promise<void> => {
      const isNewDisk = await belongTo(mac);
      if (files === last && !isNewDisk) return;
      await tellKey(options, hasKey);
      const wanted = new Map([...base, ...files, ...dropInFiles(files, user)].map((file) => [file.path, file]));
      const before = present;
      const changed = [...wanted.values()].filter((file) => isNewDisk || !isSame(before?.get(file.path), file));
      const gone = [...(before?.keys() ?? [])].filter((path) => !wanted.has(path));
      const parents = new Set(changed.map((file) => dirname(join(root, checkedPath(file.path)))));
      await Promise.all([...parents].map((parent) => mkdir(parent, { recursive: true })));
      await Promise.all(changed.map((file) => place(root, file, before === undefined)));
      await Promise.all(gone.map((path) => rm(join(root, path), { force: true })));
      await noteRendered(root, before, wanted);
      present = wanted;
      last = files;
    },
  };
}

/** The file tree of one simulated node. */
export type NodeRoot = Awaited<ReturnType<typeof createNodeRoot>>;

/** The rule by which the ssh user needs no password: what a Mac of a fleet has when the model says `allowed`. */
function dropInFiles(files: readonly NodeFile[], user: string): readonly NodeFile[] {
  const word = files.find(({ path }) => path === '/.sim/sudo')?.text.trim();
  const rule = `${user} ALL=(root) NOPASSWD: ALL\n`;
  return word === 'allowed' ? [dataFile(`${sudoRulesPath}/meshwright`, rule)] : [];
}

/** Outlives a simulator, so that the next one leaves alone what happened on the disk meanwhile. */
const toldPath = '/.sim/has-key';

async function owned({ owner }: NodeRootOptions, path: string): Promise<void> {
  if (owner !== undefined) await chown(path, owner.userId, owner.groupId);
}

/**
 * Puts the key of this computer into `~/.ssh/authorized_keys`, or takes the file away, whenever the model changes its
 * mind; whatever happens on the node in between stays.
 */
async function tellKey(place: NodeRootOptions, hasKey: boolean): Promise<void> {
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

/** How a process of a node is refused or left alone when no simulator answers it. */
const nobodyCode = 70;

/** A text of perl that means exactly this path. */
const perlText = (text: string): string => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;

/** Expressions of perl about the calling process. */
interface Caller {
  /** The mark of its boot session. */
  readonly mark: string;
  /** Empty unless it is root. */
  readonly isRoot: string;
}

/** Where one user runs every process of every node, each carries what it is. */
const byEnvironment: Caller = { mark: "$ENV{MW_SIM} // ''", isRoot: "$ENV{MW_SIM_SUDO} // ''" };

/**
 * The program by which the tools of a node reach the simulator, for the perl that macOS ships. It sends the length of
 * its words and the words, separated by NUL: the mark of the process and that of the simulated sudo, then its
 * arguments (folder, tool, words). The answer is one line `EXIT OUTPUT-BYTES ERROR-BYTES`, then both texts. Sockets
 * without a server refuse at once, so a tool never waits for a simulator that is gone.
 */
export const askClientText = (socketPath: string, caller: Caller = byEnvironment): string => `use strict;
use Socket;
my $words = join "\\0", ${caller.mark}, ${caller.isRoot}, @ARGV;
my $socket;
socket($socket, PF_UNIX, SOCK_STREAM, 0) && connect($socket, pack_sockaddr_un(${perlText(socketPath)})) or gone();
select((select($socket), $| = 1)[0]);
local $SIG{PIPE} = 'IGNORE';
print {$socket} length($words), "\\n", $words;
my ($exit, $out, $err) = split / /, <$socket> || gone();
read($socket, my $stdout, $out) if $out;
read($socket, my $stderr, $err) if $err + 0;
print STDOUT $stdout if $out;
print STDERR $stderr if $err + 0;
exit $exit;
sub gone { print STDERR "simulated: nobody answers for this Mac\\n"; exit ${nobodyCode} }
`;

/**
 * The same for a node with a root and users of its own. Who is root is known here, and a process cannot be
 * older than the boot session that is written down: the others are all gone.
 */
const ownAskText = askClientText('/.sim/socket', {
  mark: "do { open my $f, '<', '/.sim/mark'; my $m = <$f>; chomp $m; $m }",
  isRoot: "$> ? '' : 1",
});
