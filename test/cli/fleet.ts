import { afterAll, beforeAll, expect } from 'vitest';
import { meshwright } from './meshwright.ts';
import { bareText, makePlace, type Place, processesOf, temporaryFiles } from './place.ts';

type Write = (folder: string) => Promise<void>;

async function startIn(place: Place, text: string, write: Write): Promise<void> {
  await write(place.folder);
  place.write('cluster.yaml', text);
  const up = await meshwright(place, ['sim', 'up']);
  if (up.code !== 0) throw new Error(`sim up exited with ${up.code}:\n${up.stdout}${up.stderr}`);
}

/** A place with a cluster file, the files it names, and its simulated fleet up. */
export async function placeWithFile(text: string, write: Write): Promise<Place> {
  const place = makePlace();
  await startIn(place, text, write).catch((error: unknown) => {
    place.remove();
    throw error;
  });
  return place;
}

/** The files and the state of a place before its tests. */
export interface Preparation {
  /** Writes the files that the cluster file names. */
  readonly write?: Write;
  /** True if `apply` has made the Macs match the file. */
  readonly isApplied?: boolean;
}

/** A place whose simulated fleet is up from before the first test of a file or a group until after the last one. */
export function placeOf(text: string, { write = () => Promise.resolve(), isApplied = false }: Preparation = {}) {
  const place = makePlace();
  const run = (...words: string[]) => meshwright(place, words);
  beforeAll(async () => {
    await startIn(place, text, write);
    if (!isApplied) return;
    const applied = await run('apply', '--sim', '--yes');
    expect([applied.code, applied.stderr]).toEqual([0, '']);
  });
  afterAll(() => endPlace(place));
  return { place, run };
}

/** A place with the Macs and cables of the example. */
export const fleetPlace = () => placeOf(bareText);

/** Stops the fleet, removes the place, and fails if processes or temporary files were left. */
export async function endPlace(place: Place | undefined): Promise<void> {
  if (place === undefined) return;
  const down = await meshwright(place, ['sim', 'down']);
  const left = { processes: processesOf(place), files: temporaryFiles(place) };
  place.remove();
  expect([down.code, left]).toEqual([0, { processes: [], files: [] }]);
}
