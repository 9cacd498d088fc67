import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DesiredFleet } from '../../model/desired.ts';
import { readSavedState } from '../../sim/hosts/control/run-folder.ts';
import { superviseUntilStopped } from '../../sim/hosts/control/supervisor.ts';
import { modelledFleet } from '../../sim/hosts/modelled-fleet.ts';
import { exitCode } from '../exit-codes.ts';
import { fleetFileName } from '../files/places.ts';
import { usageError, type VerbBody } from '../verb.ts';

/** How long a second of a simulated Mac takes, in seconds; the same variable shortens the times of a run. */
const scaleVariable = 'MESHWRIGHT_SIM_SCALE';

/** `sim serve FOLDER`: the simulator itself, started by `sim up` as a process of its own. */
export const simServe: VerbBody = async (run) => {
  const [folder] = run.words;
  if (folder === undefined)
    throw usageError('The folder is missing.', 'This verb is for meshwright itself: use sim up.');
  const factor = Number(run.env[scaleVariable]);
  const text = readFileSync(join(folder, fleetFileName), 'utf8');
  const { clusterFile, fleet } = JSON.parse(text) as { clusterFile: string; fleet: DesiredFleet };
  await superviseUntilStopped({
    folder,
    clusterFile,
    // The cluster file's own path is the seed: a rehearsal of the same file meets the same Macs again.
    load: async () => modelledFleet(fleet, clusterFile, await readSavedState(folder), run.own['factory'] === true),
    ...(factor > 0 && factor <= 1 && { clockFactor: factor }),
    log: (line) => run.console.err(`${line}\n`),
  });
  return exitCode.done;
};
