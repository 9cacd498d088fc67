import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonPackages } from '../python/packages.ts';

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
/** The real mlx_lm of this computer with a tiny model. */
export interface RealMlx {
  readonly python: string;
  readonly model: string;
}

/** Undefined if the packages could not be installed. What is made from them is kept next to them. */
export function findRealMlx(): RealMlx | undefined {
  const folder = pythonPackages('mlx');
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
  return { python, model };
}
