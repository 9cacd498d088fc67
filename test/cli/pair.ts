import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type ExampleDriver, exampleText, prepareDemo } from '../../src/cli/sim/sim-example.ts';
import { textOf } from '../architecture/sources.ts';
import { type FileValue, filePart, fileText, pairFile, writeSources } from '../scenarios/converge-file.ts';
import { publish, writePublishedSources } from '../scenarios/published-sources.ts';
import { type Preparation, placeOf, placeWithFile } from './fleet.ts';
import type { Place } from './place.ts';

/** A file of two Macs like the example, without runtimes, models and placements. */
export const bareFile = (change: (file: FileValue) => void = () => undefined): FileValue =>
  pairFile((file) => {
    for (const key of ['runtimes', 'models', 'placements']) delete file[key];
    change(file);
  });

/** Switches the placement and the reference runtime of a file to RDMA. */
export const overRdma = (file: FileValue): void => {
  filePart(file, 'placements', 'chat')['transport'] = 'rdma';
  const reference = filePart(file, 'runtimes', 'reference');
  reference['command'] = [...Object.values(filePart(file, 'runtimes', 'reference', 'command')), '--transport', 'rdma'];
};

/** A place with two simulated Macs whose placement uses the example's runtime of a driver. */
export function driverPlace(driver: ExampleDriver, transport: 'rdma' | 'tcp', { isPublished = false } = {}) {
  const publishIf = (file: FileValue): void => (isPublished ? publish(file, { access: 'anybody' }) : undefined);
  const sourcesBy = (write: (folder: string) => Promise<unknown>) => async (folder: string) => {
    await write(folder);
    await writePublishedSources(folder);
  };
  if (driver === 'command') {
    const file = pairFile((value) => {
      if (transport === 'rdma') overRdma(value);
      publishIf(value);
    });
    return pairPlace(file, { write: sourcesBy(writeSources) });
  }
  const choice = { driver, isPublished: false };
  const example = parse(exampleText(textOf('cluster.example.yaml'), choice)) as FileValue;
  const { model, runtime, sharding, context } = filePart(example, 'placements', 'chat');
  const file = pairFile((value) => {
    Object.assign(value, { runtimes: example['runtimes'], models: example['models'] });
    Object.assign(filePart(value, 'placements', 'chat'), { model, runtime, sharding, context, transport });
    publishIf(value);
  });
  return pairPlace(file, { write: sourcesBy((folder) => prepareDemo(folder, choice)) });
}

/** A place with a cluster file of two Macs, whose fleet is up during the tests. */
export const pairPlace = (file: FileValue, preparation: Preparation = {}) =>
  placeOf(fileText(file), { write: writeSources, ...preparation });

/** The same for a single test, which ends it. */
export const placeWithPair = (file: FileValue, write = writeSources): Promise<Place> =>
  placeWithFile(fileText(file), write);

/** The text of a file in the place's folder, or undefined if there is none. */
export function fileIn(place: Place, name: string): string | undefined {
  try {
    return readFileSync(join(place.folder, name), 'utf8');
  } catch {
    return undefined;
  }
}
