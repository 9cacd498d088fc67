import { join } from 'node:path';
import { writeWithFolder } from '../src/sim/doubles/double-files.ts';
import { indexedModel } from '../src/sim/doubles/exo-image.ts';
import { type TinyShape, tinyGguf, tinyShape } from '../src/sim/doubles/tiny-gguf.ts';

/** Writes a model that exo accepts into a folder, which is created. */
export async function writeIndexedModel(folder: string): Promise<void> {
  const model = indexedModel({ hidden: 64, layers: 4, heads: 4, context: 131_072 });
  for (const [path, content] of model) await writeWithFolder(join(folder, path), content);
}

/** Writes a tiny model, and creates the file's folder. */
export async function writeTinyGguf(path: string, shape: TinyShape = tinyShape): Promise<void> {
  await writeWithFolder(path, tinyGguf(shape));
}
