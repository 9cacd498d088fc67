import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';

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

/**
 * Where journals, caches and simulated fleets lie: `$MESHWRIGHT_STATE`, else the XDG state folder. A relative
 * `XDG_STATE_HOME` counts for nothing, as its specification says.
 */
export function stateFolder(env: NodeJS.ProcessEnv): string {
  if (env['MESHWRIGHT_STATE']) return resolve(env['MESHWRIGHT_STATE']);
  const xdg = env['XDG_STATE_HOME'];
  const base = xdg && isAbsolute(xdg) ? xdg : join(homeFolder(env), '.local', 'state');
  return join(base, 'meshwright');
}

/** `HOME`, or what the system knows when it is unset or empty. */
function homeFolder(env: NodeJS.ProcessEnv): string {
  return env['HOME'] || userInfo().homedir || homedir();
}

/** The folder of the simulated fleet of one cluster file: one fleet per file, found again by every later command. */
export function simFolder(env: NodeJS.ProcessEnv, clusterFile: string): string {
  const name = basename(clusterFile)
    .replace(/[^A-Za-z0-9-]+/g, '-')
    .slice(0, 24);
  const digest = createHash('sha256').update(resolve(clusterFile)).digest('hex').slice(0, 8);
  return join(stateFolder(env), 'sim', `${name}-${digest}`);
}

/** Under which name journals lie: a rehearsal is no part of what was done to the real Macs. */
export const journalName = (cluster: string, isSimulated: boolean): string =>
  isSimulated ? `${cluster}-simulated` : cluster;

/** The file in which `sim up` leaves the resolved fleet for the simulator, in the folder of the rack. */
export const fleetFileName = 'fleet.json';
