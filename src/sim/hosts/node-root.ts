import { existsSync } from 'node:fs';
import { chmod, chown, copyFile, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { nativeFile } from '../../native/program.ts';
import { buildToolFiles } from '../doubles/build-tools.ts';
import { preferencesPath } from '../model/network.ts';
import { dataFile, type NodeFile, perlQuote, toolFile } from '../model/node-files.ts';
import { rdmaClientsPath, verbsDevicesPath, verbsWirePath } from '../model/rdma.ts';
import { baseToolFiles, hostTool, linkedTools } from './base-tools/all-base-tools.ts';
import { doubleFiles } from './base-tools/archives.ts';
import { perlFiles, perlPath } from './base-tools/perl.ts';
import { replaceFile } from './replace-file.ts';
import { homeOf, sudoRulesPath, verbsLibraryPath } from './ssh/ssh-user.ts';

interface NodeRootOptions {
  /** Absolute path of the folder that represents `/`. */
  readonly root: string;
  readonly user: string;
  readonly userKey: string;
  /** Owner of the ssh user's files, on a node with real users. */
  readonly owner?: { readonly userId: number; readonly groupId: number };
  /** Socket through which the tools reach the simulator. Absent: `/.sim/socket` on a node with its own root. */
  readonly askPath?: string;
  /** The folder behind {@link verbsWirePath}. Absent: the host mounts it. */
  readonly wire?: string;
  /** The Mac's tools that do not depend on the model. Absent: wrappers around this machine's tools. */
  readonly baseFiles?: readonly NodeFile[];
  /** Whether the existing files are reused as this Mac's disk. Otherwise they are removed first. */
  readonly reusesDisk?: boolean;
}

/** Folders that contain files from outside macOS. */
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

/** Folders that macOS empties at every boot. */
const volatileFolders = ['/private/tmp', '/private/var/run', rdmaClientsPath];

/** Folders that every Mac has. */
const folders = [
  ...filledFolders,
  ...volatileFolders,
  '/Library/Preferences/SystemConfiguration',
  '/System/Library/LaunchDaemons',
  '/System/Volumes/Data',
  '/Users/Shared',
  '/bin',
  '/private/var/tmp',
  '/sbin',
  '/usr/bin',
  '/usr/libexec',
  '/usr/sbin',
];

/** On a Mac, these three folders are links into /private. */
const privateLinks = ['etc', 'tmp', 'var'];

function checkedPath(path: string): string {
  if (!path.startsWith('/') || path.split('/').some((part) => part === '..')) {
    throw new Error(`a simulated file needs an absolute path, not ${path}`);
  }
  return path;
}

/** A rename replaces an existing file; a new file has no readers yet and is written in place. */
function place(root: string, { path, text, isExecutable }: NodeFile, isNew: boolean): Promise<void> {
  const mode = isExecutable ? 0o755 : 0o644;
  return isNew ? writeFile(join(root, path), text, { mode }) : replaceFile(join(root, path), text, mode);
}

const isSame = (a: NodeFile | undefined, b: NodeFile): boolean =>
  a !== undefined && a.text === b.text && a.isExecutable === b.isExecutable;

async function clearVolatile(root: string): Promise<void> {
  for (const folder of volatileFolders) {
    for (const name of await readdir(join(root, folder)).catch(() => [])) {
      await rm(join(root, folder, name), { recursive: true, force: true });
    }
  }
}

const ownerPath = '/.sim/mac';

/** On a node with its own root. */
const ownAskPath = '/.sim/socket';

/** Moves the contents of these folders, and the record of the client's key, to a different place. */
async function moveFilled(from: string, to: string): Promise<void> {
  for (const folder of filledFolders) {
    for (const name of await readdir(join(from, folder)).catch(() => [])) {
      await mkdir(join(to, folder), { recursive: true });
      await rename(join(from, folder, name), join(to, folder, name));
    }
  }
  await mkdir(join(to, dirname(keyStatePath)), { recursive: true });
  await rename(join(from, keyStatePath), join(to, keyStatePath)).catch(() => undefined);
}

/** Exchanges the disks of two Macs. When a replaced Mac returns, the disk of its replacement is discarded. */
async function exchangeDisk(root: string, before: string, after: string): Promise<void> {
  const outgoing = join(root, '/.sim/disks', before);
  const incoming = join(root, '/.sim/disks', after);
  const isReturn = existsSync(incoming);
  await moveFilled(root, outgoing);
  if (!isReturn) return;
  await moveFilled(incoming, root);
  for (const disk of [incoming, outgoing]) await rm(disk, { recursive: true, force: true });
}

type Rendered = ReadonlyMap<string, NodeFile>;

const renderedList = '/.sim/rendered';

/** Removes files that an earlier simulator rendered and this one may not render. */
async function removeRendered(root: string): Promise<void> {
  const list = await readFile(join(root, renderedList), 'utf8').catch(() => '');
  for (const path of list.split('\n').filter((line) => line !== '')) await rm(join(root, path), { force: true });
}

/** Writes the list of rendered files if it has changed. The next simulator of this folder reads it. */
async function noteRendered(root: string, before: Rendered | undefined, after: Rendered): Promise<void> {
  if (before?.size === after.size && [...after.keys()].every((path) => before.has(path))) return;
  const list = [...after.keys()].filter((path) => path !== preferencesPath);
  await writeFile(join(root, renderedList), list.map((path) => `${path}\n`).join(''));
}

async function link(target: string, path: string): Promise<void> {
  await rm(path, { force: true });
  await symlink(target, path);
}

async function makeFolders({ root, user, wire }: NodeRootOptions): Promise<void> {
  for (const folder of [...folders, `/Users/${user}`]) await mkdir(join(root, folder), { recursive: true });
  for (const name of privateLinks) await link(`private/${name}`, join(root, name));
  await clearVolatile(root);
  for (const folder of ['/private/tmp', '/private/var/tmp', rdmaClientsPath]) await chmod(join(root, folder), 0o1777);
  if (wire !== undefined) await link(wire, join(root, verbsWirePath));
}

/** Installs the verbs library, if it was compiled, on a Mac that has one. */
async function placeVerbsLibrary(root: string, isPresent: boolean): Promise<void> {
  const path = join(root, verbsLibraryPath);
  await rm(path, { force: true });
  const compiled = isPresent ? nativeFile('simulated-verbs.so', process) : undefined;
  if (compiled === undefined) return;
  await mkdir(dirname(path), { recursive: true });
  await copyFile(compiled, path);
}

/** Creates a node's root: folders, the ssh user's home, base tools. A disk keeps what survives a boot. */
export async function createNodeRoot(options: NodeRootOptions) {
  const { root, user, askPath, reusesDisk } = options;
  if (reusesDisk === true) await removeRendered(root);
  else await rm(root, { recursive: true, force: true });
  await makeFolders(options);
  const isPrefixed = options.baseFiles === undefined;
  const perl = (isPrefixed ? hostTool('perl') : undefined) ?? perlPath;
  for (const path of isPrefixed ? linkedTools : []) {
    const target = hostTool(basename(path));
    if (target !== undefined) await link(target, join(root, path));
  }
  // On a disk of an earlier version, this is a link to this machine's perl, which would be overwritten.
  if (isPrefixed) await rm(join(root, perlPath), { force: true });
  await writeFile(join(root, '/.sim/unknown'), '');
  const made = () => [...baseToolFiles(user), ...perlFiles(perl, askPath ?? ownAskPath)];
  const own = options.baseFiles ?? [...made(), ...doubleFiles(), ...buildToolFiles()];
  const ask = askPath === undefined ? ownAskText : askClientText(askPath);
  const base = [...own, toolFile('/.sim/ask', `#!${perl}\n${ask}`)];
  let present: Rendered | undefined;
  let last: readonly NodeFile[] | undefined;
  let owner = await readFile(join(root, ownerPath), 'utf8').catch(() => undefined);
  const isOfAnother = (mac: string | undefined): boolean => mac !== undefined && owner !== undefined && owner !== mac;
  /** Exchanges the disk if it belongs to a different Mac. True if the new disk has no rendered files. */
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
    /** A file's text if it was changed since the simulator wrote it; empty if it was deleted. */
    edited: async (path: string): Promise<string | undefined> => {
      const text = await readFile(join(root, path), 'utf8').catch(() => '');
      return text === present?.get(path)?.text ? undefined : text;
    },
    /**
     * Replaces all rendered files with these. Each file is written under a temporary name and renamed, so that a reader
     * sees the old or the new version. All other rendered files are deleted. If the Mac was replaced, the new Mac's
     * disk replaces the current one, which is stored in case the old Mac returns. A Mac without an earlier disk gets an
     * empty one.
     *
     * @param hasKey whether the model accepts the client's key (default true)
     * @param mac the Mac whose disk is wanted; absent: always the same Mac
     */
    update: async (files: readonly NodeFile[], hasKey = true, mac?: string): Promise<void> => {
      const isNewDisk = await belongTo(mac);
      if (files === last && !isNewDisk) return;
      await writeKey(options, hasKey);
      const wanted = new Map([...base, ...files, ...dropInFiles(files, user)].map((file) => [file.path, file]));
      const before = present;
      const hasVerbs = wanted.has(verbsDevicesPath);
      if (before?.has(verbsDevicesPath) !== hasVerbs) await placeVerbsLibrary(root, hasVerbs);
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

export type NodeRoot = Awaited<ReturnType<typeof createNodeRoot>>;

/** The rule that gives the ssh user sudo without a password, for a Mac whose sudo is `allowed` in the model. */
function dropInFiles(files: readonly NodeFile[], user: string): readonly NodeFile[] {
  const word = files.find(({ path }) => path === '/.sim/sudo')?.text.trim();
  const rule = `${user} ALL=(root) NOPASSWD: ALL\n`;
  return word === 'allowed' ? [dataFile(`${sudoRulesPath}/meshwright`, rule)] : [];
}

/** File with the last `hasKey`, for the next simulator, which keeps changes made on the disk meanwhile. */
const keyStatePath = '/.sim/has-key';

async function owned({ owner }: NodeRootOptions, path: string): Promise<void> {
  if (owner !== undefined) await chown(path, owner.userId, owner.groupId);
}

/** Writes or removes `~/.ssh/authorized_keys` when the model's value changes. Other changes on the node remain. */
async function writeKey(place: NodeRootOptions, hasKey: boolean): Promise<void> {
  const { root, user, userKey } = place;
  const stored = await readFile(join(root, keyStatePath), 'utf8').catch(() => '');
  const now = `${hasKey}\n`;
  if (stored === now) return;
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
  await writeFile(join(root, keyStatePath), now);
}

/** Exit code of a process that gets no answer from a simulator. */
const noAnswerCode = 70;

/** Perl expressions that describe the calling process. */
interface Caller {
  /** The mark of its boot session. */
  readonly mark: string;
  /** Empty unless the caller is root. */
  readonly isRoot: string;
}

/** If one user runs all processes of all nodes, the environment identifies the caller. */
const byEnvironment: Caller = { mark: "$ENV{MW_SIM} // ''", isRoot: "$ENV{MW_SIM_SUDO} // ''" };

/**
 * The program through which a node's tools reach the simulator, for macOS's perl. It sends the length of its data, then
 * NUL-separated fields: the mark of the process, the mark of the simulated sudo, and its arguments (folder, tool, the
 * tool's arguments). The answer is one line `EXIT OUTPUT-BYTES ERROR-BYTES`, then both texts. A socket without a server
 * refuses immediately, so a tool never waits for a stopped simulator.
 */
export const askClientText = (socketPath: string, caller: Caller = byEnvironment): string => `use strict;
use Socket;
my $words = join "\\0", ${caller.mark}, ${caller.isRoot}, @ARGV;
my $socket;
socket($socket, PF_UNIX, SOCK_STREAM, 0) && connect($socket, pack_sockaddr_un(${perlQuote(socketPath)})) or gone();
select((select($socket), $| = 1)[0]);
local $SIG{PIPE} = 'IGNORE';
print {$socket} length($words), "\\n", $words;
my ($exit, $out, $err) = split / /, <$socket> || gone();
read($socket, my $stdout, $out) if $out;
read($socket, my $stderr, $err) if $err + 0;
print STDOUT $stdout if $out;
print STDERR $stderr if $err + 0;
exit $exit;
sub gone { print STDERR "simulated: the simulator of this Mac does not answer\\n"; exit ${noAnswerCode} }
`;

/** The same for a node with its own root and users, where every process belongs to the recorded boot session. */
const ownAskText = askClientText(ownAskPath, {
  mark: "do { open my $f, '<', '/.sim/mark'; my $m = <$f>; chomp $m; $m }",
  isRoot: "$> ? '' : 1",
});
