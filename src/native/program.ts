import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { arch, platform } from 'node:process';
import { fileURLToPath } from 'node:url';

const nativeFolder = fileURLToPath(new URL('../../native/', import.meta.url));

/**
 * The path of a compiled file for this platform and architecture, in Node's words: from the package, or compiled by `npm
 * run native`, which compiles only for this computer.
 */
export function nativeFile(
  name: string,
  target: { readonly platform: string; readonly arch: string },
  folder = nativeFolder,
): string | undefined {
  const isThisComputer = target.platform === platform && target.arch === arch;
  return [`prebuilds/${target.platform}-${target.arch}`, ...(isThisComputer ? ['build'] : [])]
    .map((below) => join(folder, below, name))
    .find((path) => existsSync(path));
}

/** The path of the native probe as a program for this platform and architecture, such as `darwin`, `arm64`. */
export const nativeProgram = (forPlatform: string, forArch: string): string | undefined =>
  nativeFile('meshwright-probe', { platform: forPlatform, arch: forArch });
