/**
 * Prints how the sources are grained, without generated files: lines of code, files, the fullest folders, and exports that one
 * other file imports. Lines are those with code: imports count, comments and blank lines do not.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const kinds = ['.ts', '.sh', '.pl', '.json', '.yaml'];

const paths = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && kinds.includes(extname(entry.name)) && !entry.name.includes('.generated.'))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  .sort();
const files = paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

/** The text without comments; strings that hold `//` or `/*` count as code, which a line count can bear. */
const withoutComments = ({ path, text }) =>
  /\.(?:sh|pl|yaml)$/.test(path)
    ? text.replaceAll(/^\s*#.*$/gm, '')
    : text.replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, '').replaceAll(/^\s*\/\/.*$/gm, '');

const linesOf = (file) =>
  withoutComments(file)
    .split('\n')
    .filter((line) => line.trim() !== '').length;

function fullest() {
  const counts = new Map();
  for (const path of paths) {
    const folder = path.slice(0, path.lastIndexOf('/'));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}

/** Exports by name and file, with the number of files that import them by that name from there. */
function exportUses() {
  const importers = new Map();
  for (const { path, text } of files) {
    for (const [, names, from] of text.matchAll(/^(?:import|export) (?:type )?\{([^}]*)\} from '(\.[^']*)'/gm)) {
      const target = join(path, '..', from);
      for (const name of names.split(',')) {
        const own = name
          .trim()
          .replace(/^type /, '')
          .split(' as ')[0];
        if (own !== '') importers.set(`${target} ${own}`, [...(importers.get(`${target} ${own}`) ?? []), path]);
      }
    }
  }
  const exported = files.flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm)].map(
      ([, name]) => `${path} ${name}`,
    ),
  );
  return exported.map((key) => importers.get(key)?.length ?? 0);
}

const uses = exportUses();
const rows = [
  ['lines of code', files.reduce((sum, file) => sum + linesOf(file), 0)],
  ['files', files.length],
  ['most files in one folder', fullest()[0]?.[1] ?? 0],
  ['folders with more than 25 files', fullest().filter(([, count]) => count > 25).length],
  ['exports with one importer', uses.filter((count) => count === 1).length],
  ['exports', uses.length],
];
for (const [name, value] of rows) process.stdout.write(`${String(value).padStart(7)}  ${name}\n`);
for (const [folder, count] of fullest().slice(0, 5)) process.stdout.write(`         ${folder}: ${count} files\n`);
