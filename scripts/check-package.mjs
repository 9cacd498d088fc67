/** The package gate: the package is small, its types compile, and it contains every page that the program mentions. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const most = { files: 208, bytes: 6_880_000 };
/** Only a release contains the native parts for its three platforms, so they have limits of their own. */
const mostNative = { files: 6, bytes: 1_500_000 };

const run = (command, ...words) => spawnSync(command, words, { encoding: 'utf8', maxBuffer: 2 ** 26 });
const packed = JSON.parse(run('npm', 'pack', '--dry-run', '--json', '--ignore-scripts').stdout)[0];
const paths = new Set(packed.files.map(({ path }) => path));
const problems = [];
const isNative = ({ path }) => path.startsWith('native/');
for (const [what, files, limit] of [
  ['', packed.files.filter((file) => !isNative(file)), most],
  [' of native parts', packed.files.filter(isNative), mostNative],
]) {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (files.length > limit.files) problems.push(`${files.length} files${what}, ${limit.files} at most`);
  if (bytes > limit.bytes) problems.push(`${bytes} bytes${what}, ${limit.bytes} at most`);
  process.stdout.write(`${files.length} files, ${bytes} bytes unpacked${what}\n`);
}

const bundle = 'dist/cli';
const text = readdirSync(bundle, { withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.js'))
  .map(({ name }) => readFileSync(join(bundle, name), 'utf8'))
  .join('');
for (const [page] of text.matchAll(/docs\/[a-z.-]+\.(?:md|yaml)\b/g)) {
  if (!paths.has(page)) problems.push(`the program names ${page}, which is not in the package`);
}

// An example that imports the package by name, like its users.
const options = '--noEmit --ignoreConfig --strict --module nodenext --target es2023 --types node'.split(' ');
const types = run('node_modules/.bin/tsc', ...options, 'examples/library.ts');
if (types.status !== 0) problems.push(`dist/index.d.ts: ${types.stdout}`);

// Settings add their kinds in their own files, which the bundle of types omits by itself.
const { only } = JSON.parse(readFileSync('schemas/playbook.schema.json', 'utf8')).$defs.task.properties.converge
  .properties;
const declared = [...readFileSync('dist/index.d.ts', 'utf8').matchAll(/^interface ResourceKinds \{(.*?)^\}/gms)].join(
  '',
);
for (const kind of only.items.enum) {
  if (!new RegExp(`readonly ["']?${kind}["']?:`).test(declared)) problems.push(`dist/index.d.ts has no kind ${kind}`);
}

for (const problem of new Set(problems)) process.stderr.write(`package: ${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
