import { parse } from 'yaml';
import { textOf } from '../../architecture/sources.ts';
import {
  type FileValue,
  filePart,
  fileText,
  first,
  pairFile,
  second,
  writeSources,
} from '../../scenarios/converge-file.ts';
import { publish, writePublishedSources } from '../../scenarios/published-sources.ts';
import { placeWithPair } from '../pair.ts';
import type { Place } from '../place.ts';

/** A Mac of the rack without a placement. */
export const bystander = 'studio-2';

/** The Macs of the rack; the first one that a fault does not name loses its power. */
export const rackNodes: readonly string[] = [first, bystander, second];

/** True if a link of the example connects two Macs of the rack. */
const isOfRack = (link: string): boolean =>
  link.split(' <-> ').every((end) => rackNodes.includes(end.split(':')[0] ?? ''));

/** The pair of the convergence tests, with a third Mac, a cable for every two, and a published endpoint. */
function rackFile(): FileValue {
  const example = parse(textOf('test/rack/reference.yaml')) as FileValue;
  return pairFile((file) => {
    const { [bystander]: third } = filePart(example, 'nodes');
    file['nodes'] = { ...filePart(file, 'nodes'), [bystander]: third };
    const links = Object.values(filePart(example, 'thunderbolt', 'links')).map(String);
    filePart(file, 'thunderbolt')['links'] = links.filter(isOfRack);
    // A keeper repairs a fault within a minute, so slow and fast computers would observe different states.
    filePart(file, 'system')['keeper'] = 'none';
    publish(file, { access: 'anybody', port: 8_080 });
  });
}

/** The file without the bystander, which has left the rack. */
export function fileWithoutBystander(): string {
  const file = rackFile();
  delete filePart(file, 'nodes')[bystander];
  const links = Object.values(filePart(file, 'thunderbolt', 'links')).map(String);
  filePart(file, 'thunderbolt')['links'] = links.filter((link) => !link.includes(bystander));
  return fileText(file);
}

/** A place with the rack, its simulated fleet up and nothing applied. */
export const placeWithRack = (): Promise<Place> =>
  placeWithPair(rackFile(), async (folder) => {
    await writeSources(folder);
    await writePublishedSources(folder);
  });
