import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { didYouMean, listText } from '../../desired/did-you-mean.ts';
import { absolutePath } from '../../desired/settle/settle-trees.ts';
import { isTreePath } from '../../desired/tree-paths.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet, DesiredModel } from '../../model/desired.ts';
import type { ModelShape, ShapeFact } from '../../model/model-shape.ts';

import { modelSubject } from '../../model/subject.ts';
import { membersOf } from '../../rack/artifacts/shapes/layer-cache.ts';
import { jsonEntries } from '../../rack/artifacts/shapes/safetensors.ts';
import { type ByteSource, folderSource, urlSource } from '../sources/byte-source.ts';
import { readShape, readText } from '../sources/read-shapes.ts';
import { type Run, usageError } from '../verb.ts';

/** A model that is to be fitted. */
export interface FitSubject {
  readonly name: string;
  readonly shape: ModelShape;
}

/** Whether a word is a place of files, and no name of the cluster file. */
export const isPlace = (word: string): boolean => /[/\\]|\.gguf$/i.test(word);

/** The shape of a model at a place: a folder, a `.gguf` file, the base of URLs. @throws FleetError `model/shape-unknown` */
export async function subjectAt(run: Run, word: string): Promise<FitSubject> {
  const isUrl = /^https?:\/\//.test(word);
  const found = await (isUrl ? shapeAtUrl(run, word) : shapeInFolder(run, word));
  const name = basename(word.split(/[?#]/)[0] ?? '') || 'model';
  return { name, shape: knownShape(word, found) };
}

function knownShape(word: string, found: ShapeFact): ModelShape {
  if (found.kind === 'known') return found.shape;
  throw new FleetError([
    diagnose('model/shape-unknown', {
      subject: modelSubject(word),
      detail: `Nothing is known of its size: ${found.why}.`,
    }),
  ]);
}

const partName = /^(.*)-\d{5}-of-(\d{5})\.gguf$/;

/** All parts of the GGUF model that this file belongs to. */
function partsOf(file: string): readonly string[] {
  const [, stem, count] = partName.exec(file) ?? [];
  if (stem === undefined || count === undefined) return [file];
  return Array.from(
    { length: Number(count) },
    (_, index) => `${stem}-${String(index + 1).padStart(5, '0')}-of-${count}.gguf`,
  );
}

async function shapeInFolder(run: Run, word: string): Promise<ShapeFact> {
  const path = resolve(run.folder, word);
  if (/\.gguf$/i.test(path)) return readShape(folderSource(dirname(path)), partsOf(basename(path)));
  try {
    if (!(await stat(path)).isDirectory()) return { kind: 'unknown', why: 'it is neither a folder nor a .gguf file' };
    return await readShape(folderSource(path), await filesIn(path));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return { kind: 'unknown', why: code === 'ENOENT' ? 'it is not there' : `it cannot be read (${code})` };
  }
}

/** The files of a folder and of the folders in it. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const inside = await Promise.all(
    entries
      .filter((entry) => entry.isDirectory())
      .map(async ({ name }) => (await readdir(join(folder, name))).map((file) => `${name}/${file}`)),
  );
  return [...entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name), ...inside.flat()];
}

function shapeAtUrl(run: Run, word: string): Promise<ShapeFact> {
  if (/\.gguf$/i.test(word)) {
    const slash = word.lastIndexOf('/');
    return readShape(urlSource(word.slice(0, slash + 1), run.signal), partsOf(word.slice(slash + 1)));
  }
  const source = urlSource(word.endsWith('/') ? word : `${word}/`, run.signal);
  return weightsAt(source).then((weights) => readShape(source, ['config.json', ...weights]));
}

const indexName = 'model.safetensors.index.json';
/** Those of the largest models have some ten megabytes. */
const mostIndexBytes = 64 * 2 ** 20;

/** The files of weights below a base: those that the index names; one without an index is one file. */
async function weightsAt(source: ByteSource): Promise<readonly string[]> {
  const index = await readText(source, indexName, mostIndexBytes);
  const text = index.kind === 'text' ? index.text : '{}';
  const map = membersOf(new Map(jsonEntries(text) ?? []).get('weight_map'));
  const names = [...new Set(map.values())].filter((name) => typeof name === 'string');
  const weights = names.filter(isTreePath);
  return weights.length === 0 ? ['model.safetensors'] : weights;
}

/** The shape of a model of the file: as the lock has it, else from where the file says that it is. */
async function shapeOf(run: Run, model: DesiredModel, baseFolder: string): Promise<ShapeFact> {
  const { shape, source, files } = model;
  if (shape !== undefined) return { kind: 'known', shape };
  switch (source.kind) {
    case 'node':
      return {
        kind: 'unknown',
        why: 'its files lie on the nodes, where plan reads their headers and apply keeps them in the lock',
      };
    case 'url':
      return readShape(
        urlSource(source.base, run.signal),
        files.map(({ path }) => path),
      );
    case 'controller':
      return shapeInFolder(run, absolutePath(baseFolder, source.folder));
  }
}

/** A model of the file by its name. @throws FleetError `cli/usage`, `model/shape-unknown` */
export async function subjectInFile(
  run: Run,
  name: string,
  { fleet, baseFolder }: { readonly fleet: DesiredFleet; readonly baseFolder: string },
): Promise<FitSubject> {
  const model = fleet.models.find((one) => one.name === name);
  if (model === undefined) {
    const names = fleet.models.map((one) => one.name);
    const near = didYouMean(name, names);
    const guess = near === undefined ? '' : `Did you mean ${near}? `;
    const known = names.length === 0 ? 'It has none.' : `It has ${listText(names)}.`;
    throw usageError(
      `The file has no model ${JSON.stringify(name)}.`,
      `${guess}${known} A folder has a slash: ./${name}`,
    );
  }
  return { name, shape: knownShape(name, await shapeOf(run, model, baseFolder)) };
}

/** Models of a fleet with the shapes that can be read here; those that cannot stay without. */
export const withShapes = (
  run: Run,
  models: readonly DesiredModel[],
  baseFolder: string,
): Promise<readonly DesiredModel[]> =>
  Promise.all(
    models.map(async (model) => {
      const found = await shapeOf(run, model, baseFolder);
      return found.kind === 'known' ? { ...model, shape: found.shape } : model;
    }),
  );
