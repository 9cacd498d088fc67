import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonPackages } from '../python/packages.ts';
import type { temporaryFolder } from '../temporary-folder.ts';

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The exact packages, in the form that a runtime's `requirements` has. */
export const requirements = pathOf('../python/mlx.requirements.txt');

/** The real mlx_lm of this computer with a tiny model. */
export interface RealMlx {
  readonly python: string;
  /** As in the file: `3.11`. */
  readonly version: string;
  readonly model: string;
  /** For a Mac in a namespace: Python, the packages, and a program in place of uv. */
  readonly archive: () => string;
}

/**
 * Undefined if the packages could not be installed. What is made from them is kept next to them. MESHWRIGHT_MLX is the
 * folder of an environment with other versions.
 */
export function findRealMlx(): RealMlx | undefined {
  const folder = process.env['MESHWRIGHT_MLX'] ?? pythonPackages('mlx');
  if (folder === undefined) return undefined;
  const python = join(folder, 'bin/python');
  const made = (name: string, scripts: readonly string[], words: (path: string) => readonly string[]): string => {
    const digest = createHash('sha256');
    for (const script of scripts) digest.update(readFileSync(pathOf(script)));
    const path = join(folder, `${digest.digest('hex').slice(0, 12)}-${name}`);
    if (existsSync(path)) return path;
    // Another test file may make it at the same time.
    const own = join(folder, `${process.pid}-${name}`);
    execFileSync(python, [pathOf(scripts[0] ?? ''), ...words(own)], { stdio: ['ignore', 'ignore', 'pipe'] });
    if (!existsSync(path)) renameSync(own, path);
    return path;
  };
  const model = made('model', ['make-model.py'], (path) => [path]);
  const [version = ''] = readdirSync(join(folder, 'lib')).map((name) => name.replace('python', ''));
  const archive = () =>
    made('uv-aarch64-apple-darwin.tar.gz', ['pack.py', 'uv.sh', 'make-model.py'], (path) => [
      path,
      model,
      pathOf('uv.sh'),
    ]);
  return { python, version, model, archive };
}

/** Makes the folder `real` a runtime as the driver knows it. */
export function linkRuntime(place: ReturnType<typeof temporaryFolder>, { python }: RealMlx): void {
  mkdirSync(place.at('real'));
  symlinkSync(dirname(dirname(python)), place.at('real/venv'));
}
