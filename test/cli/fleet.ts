import { expect } from 'vitest';
import { meshwright } from './meshwright.ts';
import { bareText, makePlace, type Place, processesOf, temporaryFiles } from './place.ts';

/** A place with the Macs and cables of the example, and its simulated fleet up. */
export const placeWithFleet = (): Promise<Place> => placeWithFile(bareText);

/** A place with a cluster file, the files it names, and its simulated fleet up. */
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
    throw new Error(`sim up exited with ${up.code}:\n${up.stdout}${up.stderr}`);
  }
  return place;
}

/** Stops the fleet, removes the place, and fails if processes or temporary files were left. */
export async function endPlace(place: Place | undefined): Promise<void> {
  if (place === undefined) return;
  const down = await meshwright(place, ['sim', 'down']);
  const left = { processes: processesOf(place), files: temporaryFiles(place) };
  place.remove();
  expect([down.code, left]).toEqual([0, { processes: [], files: [] }]);
}
