import { createHash } from 'node:crypto';
import { existsSync, realpathSync, rmSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { journalFolder } from '../../apply/journal/journal.ts';
import type { Reader } from '../../diagnostics/prose-text.ts';
import type { Run } from '../verb.ts';

/**
 * The path of the cluster file: `-f`, otherwise `MESHWRIGHT_FILE`, otherwise the first `cluster.yaml` in this folder or
 * a parent. Undefined if there is none. Does not check a given path, because reading it reports any problem.
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

/** The lock next to the cluster file, with the same name and the extension `.lock`. */
export function lockFileFor(clusterFile: string): string {
  return clusterFile.replace(/(\.ya?ml)?$/i, '.lock');
}

/** The folder for journals, caches and simulated fleets. XDG requires that a relative `XDG_STATE_HOME` is ignored. */
export function stateFolder(env: NodeJS.ProcessEnv): string {
  if (env['MESHWRIGHT_STATE']) return resolve(env['MESHWRIGHT_STATE']);
  const xdg = env['XDG_STATE_HOME'];
  const base = xdg && isAbsolute(xdg) ? xdg : join(homeFolder(env), '.local', 'state');
  return join(base, 'meshwright');
}

/** `HOME`, or the system's home folder if `HOME` is unset or empty. */
export const homeFolder = (env: NodeJS.ProcessEnv): string => env['HOME'] || userInfo().homedir || homedir();

/** The simulated fleet's folder; each cluster file has its own. */
export function simFolder(env: NodeJS.ProcessEnv, clusterFile: string): string {
  const name = basename(clusterFile)
    .replace(/[^A-Za-z0-9-]+/g, '-')
    .slice(0, 24);
  const digest = createHash('sha256').update(resolve(clusterFile)).digest('hex').slice(0, 8);
  return join(stateFolder(env), 'sim', `${name}-${digest}`);
}

/** The folder of a cluster's journals. Each rehearsal has its own, separate from the runs on real Macs. */
export function journalsOf(
  { env, folder, options, console }: Pick<Run, 'env' | 'folder' | 'options'> & { readonly console: Reader },
  cluster: string,
): string {
  const file = console.isSimulated ? findClusterFile(options.file, env, folder) : undefined;
  return file === undefined ? journalFolder(stateFolder(env), cluster) : rehearsalJournals(env, file);
}

const rehearsalJournals = (env: NodeJS.ProcessEnv, clusterFile: string): string =>
  journalFolder(stateFolder(env), `simulated-${basename(simFolder(env, clusterFile))}`);

/** Forgets all runs on the simulated Macs of this file. */
export const forgetRehearsal = (env: NodeJS.ProcessEnv, clusterFile: string): void =>
  rmSync(rehearsalJournals(env, clusterFile), { recursive: true, force: true });

/** The file in the rack's folder in which `sim up` stores the resolved fleet for the simulator. */
export const fleetFileName = 'fleet.json';

/** The path behind all links, also of a file that does not exist yet. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path === dirname(path) ? path : join(realPath(dirname(path)), basename(path));
  }
}

/** True if the path, behind all links, is in this folder. */
export function isInside(folder: string, path: string): boolean {
  const [root, real] = [realPath(folder), realPath(path)];
  return real === root || real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}
