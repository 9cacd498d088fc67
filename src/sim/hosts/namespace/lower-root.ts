import { createHash } from 'node:crypto';
import { mkdir, realpath, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dataFile, type NodeFile, nodeProgramPath, programsPath, toolFile } from '../../model/node-files.ts';
import { baseTools, hostTool } from '../base-tools/all-base-tools.ts';
import { wrapperText } from '../base-tools/wrapper.ts';
import { runProgram } from './ground.ts';

/** Real here, so not wrapped. */
const realTools = ['/usr/bin/sudo', '/usr/sbin/visudo'];

const wrapped = baseTools.filter(({ path }) => !realTools.includes(path));

/** Programs of this machine that the tools of a node call. */
export const programNames: readonly string[] = [
  ...new Set(wrapped.map(({ host }) => host).filter((name) => name !== 'none')),
];

/**
 * The tools of a node below those that are rendered. They are those of the portable host; what only a place without
 * namespaces has to be told (users, processes, addresses) is true here.
 */
export function nodeTools(user: string): readonly NodeFile[] {
  return wrapped.flatMap((tool) => {
    const isAlone = tool.host === 'none';
    if (!isAlone && hostTool(tool.host) === undefined) return [];
    const host = isAlone ? '' : `${programsPath}/${tool.host}`;
    const text = wrapperText(tool, { host, isBsd: false, user, programs: programsPath });
    // The folders of PATH hold wrappers alone.
    return [toolFile(tool.path, text.replaceAll('command -p ', `${programsPath}/`))];
  });
}

/** What rendered tools call of the tools around them. */
const called = /\/(?:usr\/)?bin\/(awk|cat|cmp)(?= )/g;

const renderedTools = new WeakMap<NodeFile, NodeFile>();

/**
 * A rendered tool that calls the programs below by themselves: a wrapper judges what a client types, and would be two
 * more processes for every answer.
 */
export function callingPrograms(file: NodeFile): NodeFile {
  if (!file.isExecutable) return file;
  const known = renderedTools.get(file);
  if (known !== undefined) return known;
  const made = { ...file, text: file.text.replaceAll(called, `${programsPath}/$1`) };
  renderedTools.set(file, made);
  return made;
}

/** The account of the ssh user, as macOS numbers the first one that is made on a Mac. */
export const userId = 501;
/** Its group: `staff`. */
export const groupId = 20;

const privilegeUser = 'sshd:*:75:75:sshd Privilege separation:/var/empty:/usr/bin/false';

/** sudo on a Mac keeps these of what the caller exported; everything else is gone. */
const kept = 'HOME LANG LC_ALL LC_CTYPE TZ TERM';

const sudoers = `Defaults env_reset, env_keep += "${kept}", !requiretty, !use_pty
Defaults secure_path = "/usr/bin:/bin:/usr/sbin:/sbin"
root ALL=(ALL) ALL
%admin ALL=(ALL) ALL
#includedir /private/etc/sudoers.d
`;

/** The password of the account, judged by its hash; a wrong one is refused without the pause of PAM. */
const pamSudo = 'auth required pam_unix.so nodelay\naccount required pam_permit.so\nsession required pam_permit.so\n';
const pamOther = 'auth required pam_deny.so\naccount required pam_permit.so\nsession required pam_permit.so\n';

/** Files that are the same on every node. */
const systemFiles: readonly NodeFile[] = [
  dataFile('/private/etc/shells', '/bin/sh\n'),
  dataFile('/private/etc/nsswitch.conf', 'passwd: files\ngroup: files\nshadow: files\nsudoers: files\nhosts: files\n'),
  dataFile('/private/etc/pam.d/sudo', pamSudo),
  dataFile('/private/etc/pam.d/other', pamOther),
];

/**
 * Who is on one node: its own name, the ssh user with the hash of the password, the word of the model about sudo, and all
 * accounts of the model, as `accountsText` writes them.
 */
interface NodeAccount {
  readonly name: string;
  readonly user: string;
  readonly sudo: string;
  readonly hash: string;
  readonly accounts: string;
}

/** Accounts of the model but those that every node has here: they log in nowhere. Numbers below zero do not exist on Linux. */
function otherAccounts(accounts: string, user: string) {
  const known = ['0', String(userId), '75'];
  const others = accounts
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap(([name = '', uid = '', gid = '', group = '']) =>
      name === user || known.includes(uid) || !/^\d+$/.test(uid) || !/^\d+$/.test(gid)
        ? []
        : [{ name, uid, gid, group }],
    );
  const groups = others.filter(({ gid }) => !['0', String(groupId), '75', '80'].includes(gid));
  return {
    users: others.map(({ name, uid, gid }) => `${name}:*:${uid}:${gid}:${name}:/var/empty:/usr/bin/false\n`).join(''),
    groups: groups.map(({ gid, group }) => `${group}:*:${gid}:\n`).join(''),
  };
}

/** Accounts of one node, its own name, and what sudo does there beside the rules in its folder. */
export function accountFiles({ name, user, sudo, hash, accounts }: NodeAccount): readonly NodeFile[] {
  const admins = sudo === 'denied' ? '' : user;
  const others = otherAccounts(accounts, user);
  return [
    dataFile('/private/etc/hosts', `127.0.0.1 localhost ${name}\n`),
    dataFile(
      '/private/etc/passwd',
      `root:*:0:0:System Administrator:/var/root:/bin/sh\n${privilegeUser}\n${user}:x:${userId}:${groupId}:${user}:/Users/${user}:/bin/sh\n${others.users}`,
    ),
    dataFile('/private/etc/shadow', `root:*:1:0:99999:7:::\nsshd:*:1:0:99999:7:::\n${user}:${hash}:1:0:99999:7:::\n`),
    dataFile(
      '/private/etc/group',
      `wheel:*:0:root\nstaff:*:${groupId}:root\nsshd:*:75:\nadmin:*:80:${admins}\n${others.groups}`,
    ),
    dataFile('/private/etc/sudoers', sudoers),
  ];
}

/** Programs that stand at the place where a Mac has them too, with the names by which this machine may know them. */
const placed = [
  { path: '/bin/sh', names: ['dash', 'sh'] },
  { path: '/usr/bin/perl', names: ['perl'] },
  { path: '/usr/bin/sudo', names: ['sudo'] },
  { path: '/usr/sbin/visudo', names: ['visudo'] },
  { path: '/usr/sbin/sshd', names: ['sshd'] },
] as const;

/** What sshd and sudo load or start by a path that is built into them; newer sshds have parts of their own. */
const companions = [
  '/usr/lib/openssh/sshd-session',
  '/usr/lib/openssh/sshd-auth',
  '/usr/libexec/sudo',
  '/usr/lib/sudo',
] as const;

/** Of PAM: sudo alone asks it, for the password of the account. */
const pamModules = ['pam_permit.so', 'pam_deny.so', 'pam_unix.so'] as const;

/** Called by other programs: GNU tar starts gzip, the wrapper of `ps` looks for its own kind. */
const helpers = ['gzip', 'bzip2', 'xz', 'id', 'grep', 'sed', 'head', 'sleep', 'chown', 'umount'] as const;

/** Folders that something is mounted on, or that sshd wants to be empty. */
const folders = ['/proc', '/dev', '/.sim/outside', '/run/sshd', '/private/var/empty'] as const;

/** What of perl's core no tool of a Mac calls: half of its bytes. */
const perlLeftOut = [
  ...['CORE', 'CPAN', 'Devel', 'ExtUtils', 'Locale', 'Module', 'Net', 'Pod', 'TAP', 'Test', 'Test2'],
  ...[
    'Unicode',
    'auto/Encode/CN',
    'auto/Encode/JP',
    'auto/Encode/KR',
    'auto/Encode/TW',
    'auto/Unicode',
    'pod',
    'unicore/lib',
  ],
] as const;

/**
 * Copies programs with every library that the dynamic linker says they need, and perl with its core modules: nothing
 * else of this machine is in the root of a node, so a tool that a Mac lacks is absent there as well.
 */
const buildText = `set -eu
cd -- "$1"; shift
put() { mkdir -p ".\${2%/*}"; cp -L -p -- "$1" ".$2"; }
while [ "$1" != -- ]; do put "$1" "$2"; shift 2; done
shift
for one do [ ! -e "$one" ] || { mkdir -p ".\${one%/*}"; cp -R -L -p -- "$one" ".$one"; }; done
for one in ${pamModules.join(' ')}; do
  for folder in /lib/*/security /usr/lib/*/security /lib64/security /usr/lib64/security; do
    [ ! -e "$folder/$one" ] || { mkdir -p ".$folder"; cp -L "$folder/$one" ".$folder/$one"; }
  done
done
for folder in $(perl -MConfig -e 'print "$Config{privlibexp} $Config{archlibexp} ", grep m{/perl-base$}, @INC'); do
  mkdir -p ".$folder"
  (cd "$folder" && tar -h ${perlLeftOut.map((one) => `--exclude ./${one}`).join(' ')} -cf - .) | tar -C ".$folder" -xf -
done
find . -type f \\( -name '*.so' -o -perm -100 \\) | xargs ldd 2>/dev/null |
  sed -n 's/.*=> \\(\\/[^ ]*\\) .*/\\1/p; s/^[[:space:]]*\\(\\/[^ ]*ld-[^ ]*\\) .*/\\1/p' | sort -u |
  while read -r one; do [ -e ".$one" ] || { mkdir -p ".\${one%/*}"; cp -L "$one" ".$one"; }; done
chmod 755 .
`;

async function write(root: string, file: NodeFile): Promise<void> {
  const path = join(root, file.path);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, file.text, { mode: file.isExecutable ? 0o755 : 0o644 });
}

/** Programs of this machine, each behind the path that it gets on a node. */
function wantedPrograms(find: (name: string) => string | undefined, names: readonly string[]): readonly string[] {
  const wanted = [
    ...placed.map(({ path, names: known }) => ({ from: known.map(find).find((one) => one !== undefined), path })),
    ...[...new Set([...names, ...helpers])].map((name) => ({ from: find(name), path: `${programsPath}/${name}` })),
  ];
  const node = { from: process.execPath, path: nodeProgramPath };
  return [...wanted, node].flatMap(({ from, path }) => (from === undefined ? [] : [from, path]));
}

/** The table of the dynamic linker is written anew whenever a library comes, goes or is replaced. */
const linkerTable = '/etc/ld.so.cache';

async function versionOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? '' : [await realpath(path), found.size, found.mtimeMs].join(' ');
}

/**
 * Names what {@link buildLowerRoot} would build: the same as long as neither its words nor the programs and libraries of
 * this machine change.
 */
export async function lowerRootDigest(
  find: (name: string) => string | undefined,
  names: readonly string[],
): Promise<string> {
  const known = wantedPrograms(find, names);
  const versions = await Promise.all([linkerTable, ...companions, ...known].map(versionOf));
  const words = [buildText, folders, companions, systemFiles, known, versions];
  return createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 16);
}

/**
 * Builds what all nodes of a fleet have in common and none can change: the programs below their tools, the shell,
 * perl, Node, sshd, sudo, and the accounts.
 *
 * @param find where this machine has a program
 * @param names of the programs below the tools of a Mac
 */
export async function buildLowerRoot(
  root: string,
  find: (name: string) => string | undefined,
  names: readonly string[],
): Promise<void> {
  await mkdir(root, { recursive: true });
  await runProgram('/bin/sh', ['-c', buildText, 'sh', root, ...wantedPrograms(find, names), '--', ...companions]);
  for (const folder of folders) await mkdir(join(root, folder), { recursive: true });
  for (const file of systemFiles) await write(root, file);
}
