import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectionState } from '../../model/fleet.ts';
import { dataFile, type NodeFile, toolFile } from '../../model/node-files.ts';
import type { ExecRecord } from '../records.ts';
import { type NodeKeys, shownKey } from '../ssh/host-keys.ts';
import { prebootBanner, unlockedText } from '../ssh/ssh-server.ts';

/**
 * Every command that the sshd of a node was asked for, as its files tell it, by time: how it ended is known to sshd
 * and the client alone.
 */
export function readExecs(folder: string, node: string): readonly ExecRecord[] {
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
export const hostKeyPath = (key: keyof NodeKeys): string => `/.sim/sshd/${key}`;

/** Every command of a client, one file each. */
export const execsPath = '/.sim/execs';

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
export function sshdFiles(state: ConnectionState, mark: string): readonly NodeFile[] {
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
