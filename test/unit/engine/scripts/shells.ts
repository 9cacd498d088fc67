/** The shells of this computer, for tests that hand them a script. */
import { accessSync, constants, realpathSync } from 'node:fs';
import { join } from 'node:path';

/** A shell as the start of an argument list; the script follows as one more word. */
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
 * Shells that can stand at `/bin/sh` of a node: this computer's own where it is neither of the others (Apple's bash 3.2
 * on a Mac), dash, and bash in POSIX mode.
 */
export const scriptShells: readonly Shell[] = [
  ...shell('sh').filter(
    ({ argv: [path] }) => !/(?:dash|bash)$/.test(realpathSync(path)) || process.platform === 'darwin',
  ),
  ...shell('dash'),
  ...shell('bash', '--posix'),
];

/** Shells that people have as their login shell, as far as they are installed here. */
export const loginShells: readonly Shell[] = ['sh', 'dash', 'bash', 'zsh', 'ksh', 'mksh', 'fish'].flatMap((name) =>
  shell(name),
);
