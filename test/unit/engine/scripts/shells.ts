/** The shells of this computer, for tests that run scripts in them. */
import { accessSync, constants, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { isThorough, sliceOf } from '../../../sample.ts';

/** A shell as the beginning of an argument list; the script is appended as the last argument. */
export interface Shell {
  readonly name: string;
  readonly argv: readonly [string, ...string[]];
}

function found(name: string): string | undefined {
  return ['/bin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']
    .map((folder) => join(folder, name))
    .find(isRunnable);
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const shell = (name: string, ...options: readonly string[]): readonly Shell[] => {
  const path = found(name);
  return path === undefined ? [] : [{ name: [name, ...options].join(' '), argv: [path, ...options, '-c'] }];
};

/**
 * Shells that can be a node's `/bin/sh`: dash, bash in POSIX mode, and this computer's shell if it is a different one
 * (Apple's bash 3.2 on a Mac).
 */
const allShells: readonly Shell[] = [
  ...shell('sh').filter(
    ({ argv: [path] }) => !/(?:dash|bash)$/.test(realpathSync(path)) || process.platform === 'darwin',
  ),
  ...shell('dash'),
  ...shell('bash', '--posix'),
];

/** The shells that scripts are tested under: one of them in `npm test`, in turn by commit, and all of them in CI. */
export const scriptShells: readonly Shell[] =
  isThorough || process.env['MESHWRIGHT_SHELLS'] === 'all' ? allShells : sliceOf(allShells, allShells.length);

/** Common login shells that are installed here. */
export const loginShells: readonly Shell[] = ['sh', 'dash', 'bash', 'zsh', 'ksh', 'mksh', 'fish'].flatMap((name) =>
  shell(name),
);
