/**
 * Builds `dist` from `src` in a new folder and then renames it, so that no command runs a partial build. It checks no
 * types, because `npm run check` does. `--quick` omits the types of the library, and does nothing if `dist` was built
 * from the same sources.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleCommandAndLibrary, bundleGateway } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const made = join(root, `dist-${process.pid}`);
const compiled = join(root, `dist-${process.pid}-compiled`);
const stampName = '.built-from';
const isQuick = process.argv.includes('--quick');

/** One digest of all sources and settings that the build reads. */
function sourceDigest() {
  const settings = [
    ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'],
    ...['scripts/build.mjs', 'scripts/bundle.mjs'],
  ];
  const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  const hash = createHash('sha256');
  for (const file of [...settings.map((name) => join(root, name)), ...sources.sort()]) {
    hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

/** Replaces the old folder with the new one; a reader sees one or the other. */
function swapIn() {
  const old = join(root, `dist-${process.pid}-old`);
  if (existsSync(dist)) renameSync(dist, old);
  try {
    renameSync(made, dist);
  } catch (error) {
    // Another build was faster. If it used the same sources, its result is as good as ours.
    if (!existsSync(dist)) throw error;
  }
  for (const left of [old, made, compiled]) rmSync(left, { recursive: true, force: true });
}

/** Runs a program from a package. @throws if it fails; the program itself prints the reason */
function runTool(path, words) {
  const { status } = spawnSync(process.execPath, [join(root, 'node_modules', path), ...words], {
    cwd: root,
    stdio: ['inherit', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error(`${path} failed`);
}

/** The interface members that files of settings add with `declare module` (ADR 19). The bundle of types omits them. */
function addedMembers() {
  const files = readdirSync(join(root, 'src'), { recursive: true }).filter((name) => name.endsWith('.ts'));
  const texts = files.sort().map((name) => readFileSync(join(root, 'src', name), 'utf8'));
  const blocks = texts.flatMap((text) => [...text.matchAll(/^declare module '\..*?' \{\n(.*?)^\}$/gms)]);
  return blocks.map(([, members]) => members.replaceAll(/^ {2}/gm, '')).join('');
}

/** Builds all of `dist` in the folder `made`. */
async function build() {
  await bundleCommandAndLibrary(made);
  await bundleGateway(made);
  // These files run on simulated Macs.
  for (const name of readdirSync(join(root, 'src'), { recursive: true })) {
    if (name.endsWith('.pl')) cpSync(join(root, 'src', name), join(made, name));
  }
  if (!isQuick) {
    const declarations = ['--declaration', '--emitDeclarationOnly', '--noCheck', '--outDir', compiled];
    runTool('typescript/bin/tsc', ['-p', 'tsconfig.build.json', ...declarations]);
    // Given the sources, dts-bundle-generator would read all of them once more.
    const types = ['-o', join(made, 'index.d.ts'), '--no-check', '--export-referenced-types=false'];
    runTool('dts-bundle-generator/dist/bin/dts-bundle-generator.js', [...types, join(compiled, 'index.d.ts')]);
    appendFileSync(join(made, 'index.d.ts'), addedMembers());
  }
  chmodSync(join(made, 'cli', 'main.js'), 0o755);
  // This first run proves that the bundle starts, and caches the compiled code that most commands load.
  runTool(`../${relative(root, join(made, 'cli', 'main.js'))}`, ['validate', 'cluster.example.yaml']);
}

// Generates the modules in src that are not in git.
await import('./make-sources.mjs');

const digest = sourceDigest();
const stamps = isQuick ? [`whole ${digest}\n`, `quick ${digest}\n`] : [];
const stamp = existsSync(join(dist, stampName)) ? readFileSync(join(dist, stampName), 'utf8') : '';
if (!stamps.includes(stamp)) {
  process.stderr.write('build: compiling meshwright\n');
  try {
    await build();
  } catch (error) {
    for (const left of [made, compiled]) rmSync(left, { recursive: true, force: true });
    throw error;
  }
  writeFileSync(join(made, stampName), `${isQuick ? 'quick' : 'whole'} ${digest}\n`);
  swapIn();
}
