import type { DesiredFleet } from '../../src/model/desired.ts';
import { readSavedState } from '../../src/sim/hosts/control/run-folder.ts';
import { type Fleet, startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { modelledFleet } from '../../src/sim/hosts/modelled-fleet.ts';
import { desiredRack } from '../rack/rack.ts';
import { connect, freshFolder, type Ran, removeFolder, run } from './sim-fixture.ts';

const folders: string[] = [];
const fleets: Fleet[] = [];
/** Ends every fleet that was brought up, and removes what it kept. */
export async function endRebooted(): Promise<void> {
  for (const fleet of fleets.splice(0)) await fleet.stop();
  for (const folder of folders.splice(0)) await removeFolder(folder);
}

/** The rack, with a second of a Mac in a millisecond of ours. */
export async function up(folder: string, desired: DesiredFleet = desiredRack, clockFactor = 1 / 1000): Promise<Fleet> {
  const model = modelledFleet(desired, 'reboot', await readSavedState(folder));
  const fleet = await startFleet({ folder, model, clockFactor });
  fleets.push(fleet);
  return fleet;
}

/** A folder for a fleet. */
export async function fresh(): Promise<string> {
  const folder = await freshFolder();
  folders.push(folder);
  return folder;
}

/** The same, where a test acts while a Mac that is slow to stop goes down: in four minutes of a Mac, five seconds of ours. */
export const slow = async (): Promise<Fleet> => up(await fresh(), desiredRack, 1 / 50);

/** One script on a node, as root or as the user; `$R` is the root of the node. */
export async function sh(fleet: Fleet, node: string, script: string, by: 'root' | 'user' = 'root'): Promise<Ran> {
  const client = await connect(fleet, node);
  const root = fleet.nodes[node]?.root ?? '';
  const sudo = by === 'root' ? `${root}/usr/bin/sudo -n ` : '';
  const ran = await run(client, `exec ${sudo}${root}/bin/sh -s`, `R='${root}'\n${script}\n`);
  client.end();
  return ran;
}

/** Asks a node to restart or switch itself off, from a child that outlives the script. */
export const shutDown = (fleet: Fleet, node: string, option: '-r' | '-h'): Promise<Ran> =>
  sh(fleet, node, `"$R/sbin/shutdown" ${option} now >/dev/null 2>&1 </dev/null &`);
