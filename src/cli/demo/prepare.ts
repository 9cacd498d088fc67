import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeReferenceArchive, writeTinyModel } from '../../sim/reference/reference.ts';

const example = new URL('../../../cluster.example.yaml', import.meta.url);

/** Large enough to be seen on its way, small enough for a computer that has other things to do. */
const modelBytes = 8_388_608;

/** Puts the example into a folder, with what it names: the archive of the runtime, and the model. */
export async function prepareDemo(folder: string): Promise<void> {
  await copyFile(example, join(folder, 'cluster.yaml'));
  await writeReferenceArchive(join(folder, 'dist/reference.tar.gz'));
  await writeTinyModel(join(folder, 'models/tiny'), modelBytes);
}
