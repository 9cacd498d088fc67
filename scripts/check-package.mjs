/** The package gate: the package is small, its types compile, and it contains every page that the program mentions. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const most = { files: 180, bytes: 6_250_000 };

const run = (command, ...words) => spawnSync(command, words, { encoding: 'utf8', maxBuffer: 2 ** 26 });
const packed = JSON.parse(run('npm', 'pack', '--dry-run', '--json', '--ignore-scripts').stdout)[0];
const paths = new Set(packed.files.map(({ path }) => path));
const problems = [];
if (paths.size > most.files) problems.push(`${paths.size} files, ${most.files} at most`);
if (packed.unpackedSize > most.bytes) problems.push(`${packed.unpackedSize} bytes unpacked, ${most.bytes} at most`);

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
const types = run('npx', 'tsc', ...options, 'examples/library.ts');
if (types.status !== 0) problems.push(`dist/index.d.ts: ${types.stdout}`);

// Settings add their kinds in their own files, which the bundle of types omits by itself.
const { only } = JSON.parse(readFileSync('schemas/playbook.schema.json', 'utf8')).$defs.task.properties.converge
  .properties;
const declared = [...readFileSync('dist/index.d.ts', 'utf8').matchAll(/^interface ResourceKinds \{(.*?)^\}/gms)].join(
  '',
);
for (const kind of only.items.enum.map((word) => (word === 'gateway' ? 'doorman' : word))) {
  if (!new RegExp(`readonly ["']?${kind}["']?:`).test(declared)) problems.push(`dist/index.d.ts has no kind ${kind}`);
}

process.stdout.write(`${paths.size} files, ${packed.unpackedSize} bytes unpacked\n`);
for (const problem of new Set(problems)) process.stderr.write(`package: ${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
