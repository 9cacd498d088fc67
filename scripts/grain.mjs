/**
 * Measures the granularity of the sources without generated files, and fails if a figure exceeds its limit without an
 * exception. Only lines with code count: imports do, comments and blank lines do not.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const { contract, parts } = createRequire(import.meta.url)('./layers.cjs');

/**
 * The limit of each figure. An exception is a temporary higher limit, with its reason. Lower it together with the
 * figure; raise it only for a new feature.
 */
const bars = {
  lines: { bar: 92_980 },
  files: { bar: 893 },
  folder: { bar: 25 },
  file: { bar: 500 },
  exports: { bar: 748 },
  crossings: { bar: 10 },
};

/**
 * Lists name all of their members, so they import many things that no other file imports. `index` lists the library's
 * exports.
 */
const lists = [
  'index apply/steps/run-step cli/sources/list-sources cli/verbs cli/verbs-act cli/verbs-change cli/verbs-look cli/verbs-own cli/verbs-set-up desired/rules/registry diagnostics/diagnose',
  'drivers/registry engine/diagnose/rules engine/observe/facts engine/goals/registry engine/resources engine/scripts/registry',
  'rack/settings/settings sim/faults/faults sim/hosts/base-tools/all-base-tools sim/tools/registry',
].flatMap((names) => names.split(' ').map((name) => `src/${name}.ts`));

const root = fileURLToPath(new URL('..', import.meta.url));
const kinds = ['.ts', '.sh', '.pl', '.json', '.yaml'];

const filesBelow = (folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && kinds.includes(extname(entry.name)) && !entry.name.includes('.generated.'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

const files = filesBelow('src');
const lost = lists.filter((list) => !files.some(({ path }) => path === list));
if (lost.length > 0) throw new Error(`these lists do not exist: ${lost.join(', ')}`);

/**
 * The text without comments. Strings that contain `//` or `/*` are counted imprecisely, which a line count can
 * tolerate.
 */
const withoutComments = ({ path, text }) =>
  /\.(?:sh|pl|yaml)$/.test(path)
    ? text.replaceAll(/^\s*#.*$/gm, '')
    : text.replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, '').replaceAll(/^\s*\/\/.*$/gm, '');

const linesOf = (file) =>
  withoutComments(file)
    .split('\n')
    .filter((line) => line.trim() !== '').length;

/** Counts the keys in a list, most frequent first. */
function counted(keys) {
  const counts = new Map();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
}

/** Every import between our files: the importing file, the imported file, the name, and whether it is only a type. */
const imports = [...files, ...filesBelow('test')].flatMap(({ path, text }) =>
  [...text.matchAll(/^(?:import|export) (type )?(?:\w+, )?\{([^}]*)\} from '(\.[^']*)'/gm)].flatMap(
    ([, isType, names, from]) =>
      names.split(',').flatMap((part) => {
        const [, type, name] = part.trim().match(/^(type )?(\w+)/) ?? [];
        if (name === undefined) return [];
        return [{ path, from: join(path, '..', from), name, isType: (isType ?? type) !== undefined }];
      }),
  ),
);

/**
 * Exports that only a single file imports, if that file is in `src` and is not a list; returns that file for each of
 * them.
 */
function exportsOfOne() {
  const importers = new Map();
  for (const { path, from, name } of imports) {
    const key = `${from} ${name}`;
    importers.set(key, new Set(importers.get(key)).add(path));
  }
  const exported = files.flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm)].map(
      ([, name]) => importers.get(`${path} ${name}`) ?? new Set(),
    ),
  );
  const isOne = ([first, ...others]) => others.length === 0 && first?.startsWith('src/') && !lists.includes(first);
  return exported.flatMap((from) => (isOne([...from]) ? [...from] : []));
}

/** The role of a file in the rack, such as `rack/fact`. */
const roleOf = (path) =>
  Object.entries(parts).find(
    ([part, { files: patterns }]) =>
      part.startsWith('rack/') && patterns.some((pattern) => new RegExp(`^(?:${pattern})`).test(path)),
  )?.[0];

const subjectOf = (path) => (path.split('/').length === 3 ? contract : path.split('/')[2]);

/**
 * Imports between different subjects of the rack, except those of types, facts, settings, readings and cable geometry.
 */
const crossings = () =>
  imports
    .filter(({ path, from, isType }) => !isType && path.startsWith('src/rack/') && from.startsWith('src/rack/'))
    .filter(({ path, from }) => new Set([subjectOf(path), subjectOf(from), contract]).size === 3)
    .filter(({ from }) => !['rack/fact', 'rack/setting', 'rack/reading', 'rack/geometry'].includes(roleOf(from)))
    .map(({ path, from }) => `${path} to ${from}`);

const sizes = files.map((file) => [file.path, linesOf(file)]).sort(([, a], [, b]) => b - a);
const folders = counted(files.map(({ path }) => path.slice(0, path.lastIndexOf('/'))));
const ofOne = exportsOfOne();
const crossed = counted(crossings());
const figures = {
  lines: ['lines of code', sizes.reduce((sum, [, lines]) => sum + lines, 0), []],
  files: ['files', files.length, counted(files.map(({ path }) => path.split('/').slice(0, 2).join('/')))],
  folder: ['most files in one folder', folders[0]?.[1] ?? 0, folders],
  file: ['most lines in one file', sizes[0]?.[1] ?? 0, sizes],
  exports: ['exports that one file imports', ofOne.length, counted(ofOne)],
  crossings: ['imports across subjects of the rack, except facts, readings and types', crossed.length, crossed],
};

const shownOffenders = Number(process.argv[2] ?? 3);
for (const [key, [name, value, offenders]] of Object.entries(figures)) {
  const { bar, today, reason } = bars[key];
  const beyond = value > (today ?? bar);
  const note = today === undefined ? '' : `, ${today} until then: ${reason}`;
  process.stdout.write(`${String(value).padStart(7)}  ${name} (bar ${bar}${note})${beyond ? '  BEYOND' : ''}\n`);
  for (const [offender, count] of offenders.slice(0, shownOffenders)) {
    process.stdout.write(`         ${count}  ${offender}\n`);
  }
  if (beyond) process.exitCode = 1;
}
