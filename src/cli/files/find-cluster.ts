import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * The path of the cluster file: `-f`, else `MESHWRIGHT_FILE`, else the first `cluster.yaml` here or above.
 * Undefined when there is none. A named file is returned unseen, so that the reader can say what is wrong with it.
 */
export function findClusterFile(given: string | undefined, env: NodeJS.ProcessEnv, folder: string): string | undefined {
  const named = given ?? env['MESHWRIGHT_FILE'];
  if (named) return resolve(folder, named);
  for (let here = resolve(folder); ; here = dirname(here)) {
    const candidate = join(here, 'cluster.yaml');
    if (existsSync(candidate)) return candidate;
    if (here === dirname(here)) return undefined;
  }
}

/** `cluster.lock` beside `cluster.yaml`: same folder, same name, ending `.lock`. */
export function lockFileFor(clusterFile: string): string {
  return clusterFile.replace(/(\.ya?ml)?$/i, '.lock');
}
