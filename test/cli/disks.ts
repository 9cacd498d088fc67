import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from './place.ts';

/** The disk of a simulated Mac, as a folder of this computer. */
export function diskOf({ state }: Place, node: string): string {
  const fleets = join(state, 'sim');
  return join(fleets, readdirSync(fleets)[0] ?? '', 'roots', node);
}

/** The paths below the state folder with this name. Unlike readdir, `find` goes on if a folder disappears meanwhile. */
export const pathsNamed = ({ state }: Place, name: string): readonly string[] =>
  spawnSync('find', [state, '-name', name], { encoding: 'utf8' }).stdout.split('\n').filter(Boolean);

/** True if the Mac has a job with this name, running or done. */
export const hasJob = (place: Place, node: string, name: string): boolean => {
  const jobs = join(diskOf(place, node), 'Library/Application Support/meshwright/ops');
  return spawnSync('grep', ['-rqsF', `name=${name}`, jobs]).status === 0;
};
