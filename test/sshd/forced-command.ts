import { chmod, writeFile } from 'node:fs/promises';
import { bootFilePath } from '../../src/sim/hosts/fleet-host.ts';
import { execEnvironment, markVariable } from '../../src/sim/hosts/ssh/ssh-user.ts';

/** The simulated Mac that runs the commands, and how they are recorded. */
export interface ForcedCommand {
  /** The absolute path of the folder that represents the node's `/`. */
  readonly root: string;
  /** The user as whom the client is logged in on the node. */
  readonly user: string;
  /** A file to which every received command is appended unchanged, followed by a NUL. */
  readonly record: string;
  /** Text that is printed before and after every command on both streams, as rc and logout files do. */
  readonly noise?: string | undefined;
}

const word = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Writes a script for `ForceCommand` that records the client's command and then runs it like the simulated Mac. */
export async function writeForcedCommand(script: string, { root, user, record, noise }: ForcedCommand): Promise<void> {
  // The node's root contains the mark of the current boot session while the node is up.
  const { [markVariable]: _, ...environment } = execEnvironment({ root, user, mark: '' });
  const variables = Object.entries(environment).map(([name, value]) => word(`${name}=${value}`));
  const say = noise === undefined ? '' : `printf '%s' ${word(noise)}; printf '%s' ${word(noise)} >&2`;
  const lines = [
    '#!/bin/sh',
    `printf '%s\\0' "$SSH_ORIGINAL_COMMAND" >>${word(record)}`,
    say,
    `read -r mark <${word(`${root}${bootFilePath}`)} || exit 255`,
    `cd ${word(environment['HOME'] ?? '/')} || exit 99`,
    `env -i ${variables.join(' ')} "SSH_CONNECTION=$SSH_CONNECTION" "${markVariable}=$mark" \\`,
    '  /bin/sh -c "$SSH_ORIGINAL_COMMAND"',
    'c=$?',
    say,
    'exit $c',
    '',
  ];
  await writeFile(script, lines.join('\n'));
  await chmod(script, 0o755);
}
