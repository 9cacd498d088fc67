import { prebootBanner } from '../host/preboot.ts';
import type { ConnectionState } from '../mac.ts';
import { dataFile, type NodeFile, toolFile } from '../node-files.ts';

/** Where the host keys of a node lie, which nobody but root may read. */
export const hostKeyPath = (key: ConnectionState['hostKey']): string => `/.sim/sshd/${key}`;

/** Every command of a client, one file each. */
export const execsPath = '/.sim/execs';

const banner = '/.sim/sshd/banner';

/** What the sshd of macOS and that of Debian have in common, and what macOS says differently. */
const always = (key: ConnectionState['hostKey']): readonly string[] => [
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
const locked = ['PubkeyAuthentication no', `Banner ${banner}`, 'ForceCommand /usr/bin/false'];

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
export function sshdFiles({ hostKey, filevault }: ConnectionState, mark: string): readonly NodeFile[] {
  const more = filevault === 'preboot' ? locked : unlocked(mark);
  return [
    dataFile('/.sim/sshd/config', [...always(hostKey), ...more, ''].join('\n')),
    dataFile(banner, prebootBanner),
    dataFile('/.sim/mark', `${mark}\n`),
    toolFile('/.sim/exec', execText),
  ];
}
