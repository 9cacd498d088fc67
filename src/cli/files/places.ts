import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { journalFolder } from '../../apply/journal/journal.ts';
import type { Reader } from '../../diagnostics/prose-text.ts';

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

/**
 * The folder for journals, caches and simulated fleets: `$MESHWRIGHT_STATE`, otherwise the XDG state folder. A relative
 * `XDG_STATE_HOME` is ignored, as the XDG specification requires.
 */
export function stateFolder(env: NodeJS.ProcessEnv): string {
  if (env['MESHWRIGHT_STATE']) return resolve(env['MESHWRIGHT_STATE']);
  const xdg = env['XDG_STATE_HOME'];
  const base = xdg && isAbsolute(xdg) ? xdg : join(homeFolder(env), '.local', 'state');
  return join(base, 'meshwright');
}

/** `HOME`, or the system's home folder if `HOME` is unset or empty. */
function homeFolder(env: NodeJS.ProcessEnv): string {
  return env['HOME'] || userInfo().homedir || homedir();
}

/** The simulated fleet's folder; each cluster file has its own. */
export function simFolder(env: NodeJS.ProcessEnv, clusterFile: string): string {
  const name = basename(clusterFile)
    .replace(/[^A-Za-z0-9-]+/g, '-')
    .slice(0, 24);
  const digest = createHash('sha256').update(resolve(clusterFile)).digest('hex').slice(0, 8);
  return join(stateFolder(env), 'sim', `${name}-${digest}`);
}

/** The folder of a cluster's journals. Rehearsals have their own folder, separate from the runs on real Macs. */
export const journalsOf = (env: NodeJS.ProcessEnv, cluster: string, { isSimulated }: Reader): string =>
  journalFolder(stateFolder(env), isSimulated ? `${cluster}-simulated` : cluster);

/** The file in the rack's folder in which `sim up` stores the resolved fleet for the simulator. */
export const fleetFileName = 'fleet.json';
