import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';

/** Where journals, caches and simulated fleets lie: `$MESHWRIGHT_STATE`, else the XDG state folder. */
export function stateFolder(env: NodeJS.ProcessEnv): string {
  if (env['MESHWRIGHT_STATE']) return resolve(env['MESHWRIGHT_STATE']);
  const base = env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state');
  return join(base, 'meshwright');
}

/** The folder of the simulated fleet of one cluster file: one fleet per file, found again by every later command. */
export function simFolder(env: NodeJS.ProcessEnv, clusterFile: string): string {
  const name = basename(clusterFile)
    .replace(/[^A-Za-z0-9-]+/g, '-')
    .slice(0, 24);
  const digest = createHash('sha256').update(resolve(clusterFile)).digest('hex').slice(0, 8);
  return join(stateFolder(env), 'sim', `${name}-${digest}`);
}
