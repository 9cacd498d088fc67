import { readdirSync, readFileSync, statSync } from 'node:fs';
import { appendFile, chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { accountsPath } from '../../model/directory.ts';
import type { ConnectionState } from '../../model/fleet.ts';
import { dataFile, type NodeFile, programsPath, toolFile } from '../../model/node-files.ts';
import type { HostedNode, HostRun } from '../fleet-host.ts';
import type { NodeView } from '../fleet-model.ts';
import { createNodeRoot } from '../node-root.ts';
import type { ExecRecord } from '../records.ts';
import { loadNodeKeys, type NodeKeys, shownKey } from '../ssh/host-keys.ts';
import { prebootBanner, unlockedText } from '../ssh/ssh-server.ts';
import { agentFile } from './boot.ts';
import { runProgram } from './ground.ts';
import { nodeTools } from './lower-root.ts';

/** The disk of a node as this process reaches it. */
export async function prepareDisk(disk: string, { folder, userKey }: HostRun, { name, user }: HostedNode) {
  const files = await createNodeRoot({
    root: disk,
    user,
    userKey: userKey.publicText,
    owner: { userId, groupId },
    baseFiles: [...nodeTools(user), agentFile],
    isKept: true,
  });
  for (const path of ['/.sim/unknown', '/.sim/urls', '/.sim/sshd.log', '/.sim/socket']) {
    await appendFile(disk + path, '');
    await chmod(disk + path, 0o666);
  }
  await mkdir(disk + execsPath, { recursive: true });
  await chmod(disk + execsPath, 0o1777);
  await mkdir(`${disk}/.sim/sshd`, { recursive: true });
  const keys = await loadNodeKeys(folder, name);
  for (const key of ['own', 'other', 'preboot'] as const) {
    await writeFile(disk + hostKeyPath(key), keys[key].privateText, { mode: 0o600 });
  }
  return { files, keys };
}

/** The rendered files, and those that only a node with a real sshd and a real sudo has. */
export async function filesOf(view: NodeView, { name, user }: HostedNode, mark: string): Promise<readonly NodeFile[]> {
  const textOf = (path: string): string => view.files.find((file) => file.path === path)?.text ?? '';
  const sudo = textOf('/.sim/sudo').trim() || 'allowed';
  const hash = await passwordHash(view.account.password);
  return [
    ...view.files.map(callingPrograms),
    ...accountFiles({ name, user, sudo, hash, accounts: textOf(accountsPath) }),
    ...sshdFiles(view.connection, mark),
  ];
}

const hashes = new Map<string, Promise<string>>();

/** The hash of a password as the shadow file of a Linux has it: SHA-512, made by the crypt(3) of this machine. */
function passwordHash(password: string): Promise<string> {
  const known = hashes.get(password);
  if (known !== undefined) return known;
  const made = runProgram('perl', ['-e', 'print crypt($ARGV[0], q($6$meshwright$))', password]);
  hashes.set(password, made);
  return made;
}

/** What rendered tools call of the tools around them. */
const called = /\/(?:usr\/)?bin\/(awk|cat|cmp)(?= )/g;

const renderedTools = new WeakMap<NodeFile, NodeFile>();

/**
 * A rendered tool that calls the programs below by themselves: a wrapper judges what a client types, and would be two
 * more processes for every answer.
 */
function callingPrograms(file: NodeFile): NodeFile {
  if (!file.isExecutable) return file;
  const known = renderedTools.get(file);
  if (known !== undefined) return known;
  const made = { ...file, text: file.text.replaceAll(called, `${programsPath}/$1`) };
  renderedTools.set(file, made);
  return made;
}

/** The account of the ssh user, as macOS numbers the first one that is made on a Mac. */
const userId = 501;
/** Its group: `staff`. */
const groupId = 20;

const privilegeUser = 'sshd:*:75:75:sshd Privilege separation:/var/empty:/usr/bin/false';

/** sudo on a Mac keeps these of what the caller exported; everything else is gone. */
const kept = 'HOME LANG LC_ALL LC_CTYPE TZ TERM';

const sudoers = `Defaults env_reset, env_keep += "${kept}", !requiretty, !use_pty
Defaults secure_path = "/usr/bin:/bin:/usr/sbin:/sbin"
root ALL=(ALL) ALL
%admin ALL=(ALL) ALL
#includedir /private/etc/sudoers.d
`;

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
function accountFiles({ name, user, sudo, hash, accounts }: NodeAccount): readonly NodeFile[] {
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

/**
 * Every command that the sshd of a node was asked for, as its files tell it, by time: how it ended is known to sshd
 * and the client alone.
 */
export function readExecs(disk: string, node: string): readonly ExecRecord[] {
  const folder = disk + execsPath;
  return readdirSync(folder)
    .map((name): ExecRecord => {
      const path = join(folder, name);
      const { mtimeMs } = statSync(path);
      const command = readFileSync(path, 'utf8');
      return { node, command, atEpochMs: mtimeMs, client: '', connection: 0, outputBytes: 0, objections: [] };
    })
    .sort((one, other) => one.atEpochMs - other.atEpochMs);
}

/** Where the host keys of a node lie, which nobody but root may read. */
const hostKeyPath = (key: keyof NodeKeys): string => `/.sim/sshd/${key}`;

/** Every command of a client, one file each. */
const execsPath = '/.sim/execs';

const banner = '/.sim/sshd/banner';

/** What the sshd of macOS and that of Debian have in common, and what macOS says differently. */
const always = (key: keyof NodeKeys): readonly string[] => [
  `HostKey ${hostKeyPath(key)}`,
  'PidFile none',
  'LogLevel ERROR',
  'UsePAM no',
  'PrintMotd no',
  'PrintLastLog no',
  'AcceptEnv LANG LC_*',
  'AuthorizedKeysFile .ssh/authorized_keys',
  'PasswordAuthentication yes',
  'KbdInteractiveAuthentication no',
];

/** @see apple_ssh_and_filevault(7): password only, no keys */
const locked = ['PubkeyAuthentication no', `Banner ${banner}`, 'ForceCommand exec /.sim/preboot'];

/** Whoever comes in has given the right password: it is told, and the simulator starts macOS. */
const prebootText = `#!/bin/sh
printf '%s' '${unlockedText}'
/usr/bin/perl /.sim/ask / note unlock >/dev/null 2>&1
`;

const unlocked = (mark: string): readonly string[] => [
  'PubkeyAuthentication yes',
  `SetEnv PATH=/usr/bin:/bin:/usr/sbin:/sbin MW_SIM=${mark}`,
  'ForceCommand exec /.sim/exec',
];

/** Takes down what the client asked for, then becomes it. */
const execText = `#!/bin/sh
c=$SSH_ORIGINAL_COMMAND
unset SSH_ORIGINAL_COMMAND
printf '%s' "$c" >${execsPath}/$$
exec /bin/sh -c "$c"
`;

/** How the sshd of a node answers from now on; every connection starts one that reads it anew. */
function sshdFiles(state: ConnectionState, mark: string): readonly NodeFile[] {
  const isLocked = state.filevault === 'preboot';
  const more = isLocked ? locked : unlocked(mark);
  return [
    dataFile('/.sim/sshd/config', [...always(shownKey(state)), ...more, ''].join('\n')),
    dataFile(banner, prebootBanner),
    dataFile('/.sim/mark', `${mark}\n`),
    toolFile('/.sim/exec', execText),
    toolFile('/.sim/preboot', prebootText),
  ];
}
