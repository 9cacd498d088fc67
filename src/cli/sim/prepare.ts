import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeIndexedModel } from '../../sim/doubles/exo/exo-image.ts';
import { writeTinyGguf } from '../../sim/doubles/llamacpp/tiny-gguf.ts';
import { writeReferenceArchive, writeTinyModel } from '../../sim/doubles/ranks/reference.ts';
import { type ExampleWish, exampleText } from './example-file.ts';

const example = new URL('../../../cluster.example.yaml', import.meta.url);

/** Large enough to be seen on its way, small enough for a computer that has other things to do. */
const modelBytes = 8_388_608;

/**
 * Puts the example into a folder, with what it names and a rehearsal has no double of: the archive of the reference
 * runtime, and a model of the kind that the runtime reads.
 */
export async function prepareDemo(
  folder: string,
  wish: ExampleWish = { driver: 'command', isPublished: false },
): Promise<void> {
  await writeFile(join(folder, 'cluster.yaml'), exampleText(await readFile(example, 'utf8'), wish));
  const model = join(folder, 'models/tiny');
  switch (wish.driver) {
    case 'command':
      await writeReferenceArchive(join(folder, 'dist/reference.tar.gz'));
      await writeTinyModel(model, modelBytes);
      return;
    case 'exo':
    case 'mlx':
      return writeIndexedModel(model);
    case 'llamacpp':
      await writeTinyGguf(join(model, 'tiny.gguf'));
  }
}
