import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

/**
 * Builds the program of a controller in a folder, once for many starts, as a single file for fast starts.
 * @returns its path
 */
export async function buildController(folder: string): Promise<string> {
  const file = join(folder, 'controller.mjs');
  // Packages are used as installed; one of them has native parts.
  await symlink(fileURLToPath(new URL('../../../node_modules', import.meta.url)), join(folder, 'node_modules'));
  await build({
    input: fileURLToPath(new URL('./controller.ts', import.meta.url)),
    platform: 'node',
    external: /^[a-z@][^:]*$/,
    logLevel: 'silent',
    output: { file, format: 'esm' },
  });
  return file;
}
