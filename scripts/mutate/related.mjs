/** Selects the tests to try with a changed file, nearest first. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, posix, sep } from 'node:path';
import ts from 'typescript';

/** Sorted paths of the TypeScript files and node scripts in a folder, relative to the project's root, with `/`. */
export const filesOf = (root, folder) =>
  readdirSync(join(root, folder), { recursive: true })
    .map((name) => posix.join(folder, name.split(sep).join('/')))
    .filter((path) => /\.(?:ts|sh)$/.test(path))
    .sort();

/** Programs that tests start, and their sources. */
const programs = { 'dist/cli/main.js': 'src/cli/main.ts', 'dist/gateway/gateway.mjs': 'src/gateway/main.ts' };

/** The files that a file uses: imports except type-only ones, node scripts, and started programs. */
function usedFiles(path, text, paths) {
  const { importedFiles } = ts.preProcessFile(text.replaceAll(/^import type [^;]*;/gm, ''), true, true);
  const names = importedFiles.map(({ fileName }) => fileName).filter((name) => name.startsWith('.'));
  if (path.endsWith('.sh')) names.push(...[...text.matchAll(/^# Uses (\S+)/gm)].map(([, name]) => name));
  const started = Object.keys(programs).filter((program) => text.includes(program));
  const embedded = basename(path) === 'scripts.generated.ts' ? paths.filter((one) => one.endsWith('.sh')) : [];
  return new Set([
    ...names.map((name) => posix.join(dirname(path), name)),
    ...embedded.filter((one) => dirname(one) === dirname(path)),
    ...started.map((program) => programs[program]),
  ]);
}

/** The number of imports on the path from each file to this one. */
function distancesTo(used, file) {
  const distances = new Map([[file, 0]]);
  for (const [one, distance] of distances) {
    for (const [path, found] of used) if (found.has(one) && !distances.has(path)) distances.set(path, distance + 1);
  }
  return distances;
}

const kebab = (name) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const camel = (name) => name.replaceAll(/-(\w)/g, (_, letter) => letter.toUpperCase());

/** A pattern for the names of a file's scripts: `set-hold` in quotes or in a path, or `setHold`. */
function namesOf(path, text) {
  const inCode = [...text.matchAll(/^export (?:const|function) (\w+)|\bname: '([\w-]+)'/gm)];
  const names = path.endsWith('.sh') ? [basename(path, '.sh')] : inCode.map(([, name, word]) => word ?? kebab(name));
  return names.flatMap((name) => [`['"\`/]${name}(?![\\w-])`, ...(name.includes('-') ? [`\\b${camel(name)}`] : [])]);
}

const wordsOf = (path, text) => new Set(`${path} ${text}`.match(/[A-Za-z][A-Za-z0-9-]{3,}/g));

/** Tests that try all files of a kind with recorded cases. */
const ofKinds = [
  [/\bfact\.ts$/, 'test/unit/engine/observe/cases.test.ts'],
  [/^src\/(?:config|desired)\/|^src\/drivers\/.*\/rules\.ts$/, 'test/unit/config/rule-cases.test.ts'],
  [/\bresource\.ts$/, 'test/unit/engine/plan/resource-cases.test.ts'],
];

const isChosen = (path) => /^test\/(?!architecture|bench|llama|namespace|nightly).*\.test\.ts$/.test(path);
const ofCommands = /^test\/(?:cli|scenarios)\//;
const ofScripts = /^test\/unit\/engine\/scripts\//;
const isSlow = (path) => path.endsWith('.slow.test.ts');

/**
 * Returns a function that maps a source file to its waves of tests: the nearest unit tests, more unit tests, slow unit
 * tests, and command-line and scenario tests, everyday ones first. The latter are near if they share rare words with
 * the file.
 *
 * Code is near to the unit tests of its folder, to those that import it, and to the cases of its kind. All tests import
 * node scripts from the same modules, so shell text is near to the tests of scripts that name its script or one that
 * uses it, then to those whose helpers do.
 */
export function relatedTests(root) {
  const paths = [...filesOf(root, 'src'), ...filesOf(root, 'test')];
  const texts = new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  const used = new Map(paths.map((path) => [path, usedFiles(path, texts.get(path), paths)]));
  const tests = paths.filter(isChosen);
  const words = new Map(tests.map((path) => [path, wordsOf(path, texts.get(path))]));
  const counts = new Map();
  for (const word of [...words.values()].flatMap((found) => [...found])) counts.set(word, (counts.get(word) ?? 0) + 1);
  const rarity = (word) => Math.log(tests.length / counts.get(word));

  return (file, isShell) => {
    const distances = distancesTo(used, file);
    const scripts = [...distances.keys()].filter((one) => one === file || one.endsWith('.sh'));
    const cases = ofKinds.find(([pattern]) => pattern.test(file))?.[1];
    const names = new RegExp(scripts.flatMap((one) => namesOf(one, texts.get(one))).join('|') || '(?!)');
    // The examples name every script.
    const isNaming = (path) => /^test\/.*(?<!\/script-examples\.ts)$/.test(path) && names.test(texts.get(path));
    const levelOf = (path) => {
      if (ofCommands.test(path)) return 0;
      const isClose = path === cases || dirname(path) === dirname(file).replace('src/', 'test/unit/');
      if (!isShell) return isClose ? 1 : distances.get(path);
      if (!ofScripts.test(path)) return 3 + distances.get(path);
      if (isNaming(path)) return 0;
      return [...used.get(path)].some(isNaming) ? 1 : 2;
    };
    const known = wordsOf(file, texts.get(file));
    const likeness = (path) => {
      const shared = [...words.get(path)].filter((word) => known.has(word));
      return shared.reduce((sum, one) => sum + rarity(one), 0) / Math.sqrt(words.get(path).size);
    };
    const near = tests
      .filter((path) => distances.has(path))
      .map((path) => ({ path, level: levelOf(path), likeness: likeness(path) }))
      .sort((a, b) => a.level - b.level || b.likeness - a.likeness);
    // Of the slow unit tests, only those that name a script are worth their time for shell text.
    const worth = near.filter(({ path, level }) => !(isShell && isSlow(path) && level > 1)).map(({ path }) => path);
    const wave = (areCommands, areSlow, from, to) =>
      worth.filter((one) => ofCommands.test(one) === areCommands && isSlow(one) === areSlow).slice(from, to);
    const units = [wave(false, false, 0, 6), wave(false, false, 6, 40), wave(false, true, 0, 4)];
    return [...units, wave(true, false, 0, 8), wave(true, true, 0, 4)].filter((one) => one.length > 0);
  };
}
