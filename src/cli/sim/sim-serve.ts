import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DesiredFleet } from '../../model/desired.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { readSavedState } from '../../sim/hosts/control/run-folder.ts';
import { superviseUntilStopped } from '../../sim/hosts/control/supervisor.ts';
import { modelledFleet } from '../../sim/hosts/modelled-fleet.ts';
import { exitCode } from '../exit-codes.ts';
import { fleetFileName } from '../files/places.ts';
import { usageError, type VerbBody } from '../verb.ts';

/** The number of real seconds per second on a simulated Mac. The same variable scales the times of a run. */
const scaleVariable = 'MESHWRIGHT_SIM_SCALE';

/** `sim serve FOLDER`: runs the simulator itself, which `sim up` starts as a separate process. */
export const simServe: VerbBody = async (run) => {
  const [folder] = run.words;
  if (folder === undefined)
    throw usageError('Folder missing.', prose`This command is internal. Use: ${meshwright('sim up')}`);
  const factor = Number(run.env[scaleVariable]);
  const text = readFileSync(join(folder, fleetFileName), 'utf8');
  const { clusterFile, fleet } = JSON.parse(text) as { clusterFile: string; fleet: DesiredFleet };
  await superviseUntilStopped({
    folder,
    clusterFile,
    // The cluster file's path is the seed, so simulations of the same file always have the same Macs.
    load: async () => modelledFleet(fleet, clusterFile, await readSavedState(folder), run.own['factory'] === true),
    ...(factor > 0 && factor <= 1 && { clockFactor: factor }),
    log: (line) => run.console.err(`${line}\n`),
  });
  return exitCode.done;
};
