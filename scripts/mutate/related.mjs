/** Selects the tests to try with a changed file, nearest first. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import ts from 'typescript';

/** Sorted paths of the TypeScript files and node scripts in these folders, relative to the project's root, with `/`. */
export function filesOf(root, folders) {
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((name) => posix.join(folder, name.split(sep).join('/'))),
    )
    .filter((path) => /\.(?:ts|sh)$/.test(path))
    .sort();
}

/** Each file's imports, except type-only ones. Tests of the built command reach everything in `src/cli/main.ts`. */
function readImports(root) {
  const texts = new Map(filesOf(root, ['src', 'test']).map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  const imports = new Map();
  for (const [path, text] of texts) {
    // A node script is read by the scripts that use it, and by its folder's module.
    const named = path.endsWith('.sh') ? [...text.matchAll(/^# Uses (\S+)/gm)].map(([, name]) => name) : [];
    const embedded = path.endsWith('/scripts.generated.ts')
      ? [...texts.keys()].filter((one) => one.endsWith('.sh') && posix.dirname(one) === posix.dirname(path))
      : [];
    const { importedFiles } = ts.preProcessFile(text.replaceAll(/^import type [^;]*;/gm, ''), true, true);
    const found = importedFiles
      .filter(({ fileName }) => fileName.startsWith('.'))
      .map(({ fileName }) => fileName)
      .concat(named)
      .map((name) => posix.join(posix.dirname(path), name))
      .concat(embedded);
    imports.set(path, path === 'test/cli/meshwright.ts' ? [...found, 'src/cli/main.ts'] : found);
  }
  return { texts, imports };
}

/** The number of imports on the path from each file to this one. */
function distancesTo(imports, file) {
  const importers = new Map();
  for (const [path, found] of imports) {
    for (const one of found) importers.set(one, [...(importers.get(one) ?? []), path]);
  }
  const distances = new Map([[file, 0]]);
  for (const [path, distance] of distances) {
    for (const one of importers.get(path) ?? []) if (!distances.has(one)) distances.set(one, distance + 1);
  }
  return distances;
}

const wordsOf = (path, text) => new Set(`${path} ${text}`.match(/[A-Za-z][A-Za-z0-9-]{3,}/g));

const isOfCommand = (path) => /^test\/(?:cli|scenarios)\//.test(path);
const isLeftOut = (path) => !path.endsWith('.test.ts') || /^test\/(?:namespace|llama|bench|nightly)\//.test(path);

/**
 * Returns a function that maps a source file to its waves of tests: the nearest unit tests, more unit tests, and the
 * scenario and command-line tests that share the most rare words with the file.
 */
export function relatedTests(root, sizes = [6, 34, 4]) {
  const { texts, imports } = readImports(root);
  const tests = [...texts.keys()].filter((path) => !isLeftOut(path));
  const words = new Map(tests.map((path) => [path, wordsOf(path, texts.get(path))]));
  const counts = new Map();
  for (const found of words.values()) for (const word of found) counts.set(word, (counts.get(word) ?? 0) + 1);
  const rarity = (word) => Math.log(tests.length / counts.get(word));

  return (file) => {
    const distances = distancesTo(imports, file);
    const own = wordsOf(file, texts.get(file));
    const shared = (path) =>
      [...words.get(path)].filter((word) => own.has(word)).reduce((sum, one) => sum + rarity(one), 0);
    const nearest = tests
      .filter((path) => distances.has(path))
      .map((path) => ({
        path,
        distance: distances.get(path),
        likeness: shared(path) / Math.sqrt(words.get(path).size),
      }))
      .sort((a, b) => b.likeness - a.likeness);
    const units = nearest
      .filter(({ path }) => !isOfCommand(path))
      .sort((a, b) => a.distance - b.distance)
      .map(({ path }) => path);
    const commands = nearest.map(({ path }) => path).filter(isOfCommand);
    return [
      { project: 'parts', files: units.slice(0, sizes[0]) },
      { project: 'parts', files: units.slice(sizes[0], sizes[0] + sizes[1]) },
      { project: 'whole', files: commands.slice(0, sizes[2]) },
    ].filter(({ files }) => files.length > 0);
  };
}
