import { chmod, writeFile } from 'node:fs/promises';
import { bootFilePath } from '../../src/sim/hosts/fleet-host.ts';
import { execEnvironment, markVariable } from '../../src/sim/hosts/ssh/ssh-user.ts';

/** Which simulated Mac a command is run on, and what else is done with it. */
export interface ForcedCommand {
  /** Absolute folder that stands for `/` of the node. */
  readonly root: string;
  /** As whom the node takes the client. */
  readonly user: string;
  /** A file to which every command is added as it came, each with a NUL behind it. */
  readonly record: string;
  /** Printed before and after every command on both streams, as rc files and logout files do. */
  readonly noise?: string | undefined;
}

const word = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Writes a script for `ForceCommand`: takes down what the client asked for, then runs it as the simulated Mac would. */
export async function writeForcedCommand(script: string, { root, user, record, noise }: ForcedCommand): Promise<void> {
  // The mark of the present boot session lies in the node's root while it is up.
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
