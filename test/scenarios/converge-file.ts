import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { doubleText } from '../../src/sim/doubles/double-files.ts';
import { writeRequirements, writeUvArchive, writeWheels } from '../../src/sim/doubles/doubles.ts';
import { writeReferenceArchive, writeTinyModel } from '../../src/sim/doubles/reference.ts';
import { tarGz } from '../../src/sim/doubles/tar-gz.ts';
import { textOf } from '../architecture/sources.ts';

/** A cluster file as a value that a test may change, without defaults. */
export type FileValue = { [key: string]: unknown };

/** The two nodes kept of the example's four. */
export const [first, second] = ['studio-1', 'studio-4'] as const;

const isOfPair = (text: string): boolean => text.split(' <-> ').every((end) => /^studio-[14]:/.test(end));

function part(value: unknown, ...keys: readonly string[]): FileValue {
  const found = keys.reduce<unknown>((at, key) => (at as FileValue)[key], value);
  if (typeof found !== 'object' || found === null) throw new Error(`the example has no ${keys.join('.')}`);
  return found as FileValue;
}

/** The example file with only two nodes and the cable between them. It has every key of the example. */
export function pairFile(change: (file: FileValue) => void = () => undefined): FileValue {
  const file = part(parse(textOf('test/rack/reference.yaml')));
  for (const name of Object.keys(part(file, 'nodes'))) {
    if (name !== first && name !== second) delete part(file, 'nodes')[name];
  }
  const thunderbolt = part(file, 'thunderbolt');
  thunderbolt['links'] = Object.values(part(thunderbolt, 'links')).map(String).filter(isOfPair);
  part(file, 'placements', 'chat')['nodes'] = [first, second];
  // A token request to a hung mesh waits this long.
  part(file, 'placements', 'chat', 'expect')['firstToken'] = '4s';
  change(file);
  return file;
}

/** A part of a file, to be changed in place. */
export const filePart = part;

/** The text of a cluster file. */
export const fileText = (file: FileValue): string => stringify(file);

/**
 * Writes the archive and the model of the file, and others: `./dist/{newer,newest}.tar.gz`,
 * `./models/{newer,large,llama}`, and uv with a list of packages.
 */
export async function writeSources(folder: string): Promise<void> {
  await writeReferenceArchive(join(folder, 'dist/reference.tar.gz'));
  for (const name of ['newer', 'newest']) {
    const content = Buffer.from(`${doubleText('ranks/rank.pl')}# ${name}\n`);
    await writeFile(join(folder, `dist/${name}.tar.gz`), tarGz([{ path: 'bin/rank', mode: 0o755, content }]));
  }
  await writeUvArchive(join(folder, 'dist/uv-aarch64-apple-darwin.tar.gz'));
  await writeRequirements(join(folder, 'requirements.lock'));
  await writeWheels(join(folder, 'wheels'));
  await writeTinyModel(join(folder, 'models/tiny'));
  await writeKnownModel(join(folder, 'models/llama'));
  await writeTinyModel(join(folder, 'models/newer'), 4_096);
  await writeTinyModel(join(folder, 'models/large'), 600_000);
}

/** The tiny model with a model type that mlx-lm supports. */
async function writeKnownModel(folder: string): Promise<void> {
  await writeTinyModel(folder);
  const config = await readFile(join(folder, 'config.json'), 'utf8');
  await writeFile(join(folder, 'config.json'), config.replace('"reference"', '"llama"'));
}

/** Adds the keys that leave a Mac unchanged by default. */
export function withEverySetting(file: FileValue): void {
  Object.assign(filePart(file, 'system'), {
    computerName: 'node',
    clock: 'set',
    automaticLogin: 'disabled',
    screenSharing: 'disabled',
    firewall: 'disabled',
    backgroundServices: 'stop',
    accounts: { ranks: '_meshrank', gateway: '_meshgate' },
  });
}
