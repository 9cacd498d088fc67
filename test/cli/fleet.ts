import { expect } from 'vitest';
import { meshwright } from './meshwright.ts';
import { bareText, makePlace, type Place, processesOf, temporaryFiles } from './place.ts';

/** A place whose cluster file is the Macs and cables of the example, with its simulated fleet up. */
export const placeWithFleet = (): Promise<Place> => placeWithFile(bareText);

/** A place with a cluster file, what it names, and its simulated fleet up. */
export async function placeWithFile(
  text: string,
  write: (folder: string) => Promise<void> = () => Promise.resolve(),
): Promise<Place> {
  const place = makePlace();
  await write(place.folder);
  place.write('cluster.yaml', text);
  const up = await meshwright(place, ['sim', 'up']);
  if (up.code !== 0) {
    place.remove();
    throw new Error(`sim up ended with ${up.code}:\n${up.stdout}${up.stderr}`);
  }
  return place;
}

/** Takes the fleet down and the place away, also after a failed test, and says what was left over. */
export async function endPlace(place: Place | undefined): Promise<void> {
  if (place === undefined) return;
  const down = await meshwright(place, ['sim', 'down']);
  const left = { processes: processesOf(place), files: temporaryFiles(place) };
  place.remove();
  expect([down.code, left]).toEqual([0, { processes: [], files: [] }]);
}
