import { tools } from './commands/registry.ts';
import { macBehind, type SimulatedFleet } from './fleet.ts';
import { networkPreferences, preferencesPath } from './network-preferences.ts';
import { dataFile, type NodeFile } from './node-files.ts';
import { seenCopy, toolFiles } from './tool-script.ts';

/**
 * Every file of this node's root that depends on the state of the fleet, sorted by path; empty for a name that is not
 * in the fleet. The host writes them whenever the state changes and removes those that are gone.
 */
export function nodeFiles(fleet: SimulatedFleet, node: string): readonly NodeFile[] {
  const mac = macBehind(fleet, node);
  if (mac === undefined) return [];
  const room = mac.ailments.diskRoomBytes;
  const files = [
    dataFile('/.sim/sudo', `${mac.sudo}\n`),
    dataFile('/.sim/clock-offset', `${mac.clockOffsetSeconds}\n`),
    dataFile(preferencesPath, networkPreferences(mac)),
    dataFile(seenCopy({ kind: 'node-path', path: preferencesPath }), networkPreferences(mac)),
    ...(room === undefined ? [] : [dataFile('/.sim/room', `${room}\n`)]),
    ...tools.flatMap((tool) => toolFiles(tool, { fleet, mac })),
  ];
  return files.sort((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1 : 0));
}
