/**
 * Makes `dist` from `src`: into a new folder first, then by renaming, so that nobody runs half a build.
 * `--quick` leaves out the type check and does nothing when `dist` was built from these very sources.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleCommandLine, bundleDoorman } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const made = join(root, `dist-${process.pid}`);
const stampName = '.built-from';
const isQuick = process.argv.includes('--quick');

/** One digest over every source and every setting that the build reads. */
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

/** Puts the new folder in the place of the old one; a reader sees one or the other. */
function swapIn() {
  const old = join(root, `dist-${process.pid}-old`);
  if (existsSync(dist)) renameSync(dist, old);
  try {
    renameSync(made, dist);
  } catch (error) {
    // Another build was faster; its result is as good as ours when it came from the same sources.
    if (!existsSync(dist)) throw error;
  }
  for (const left of [old, made]) rmSync(left, { recursive: true, force: true });
}

/** Runs the compiler; its exit code is the build's. */
function compile() {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const words = [compiler, '-p', join(root, 'tsconfig.build.json'), '--outDir', made];
  if (isQuick) words.push('--noCheck', '--declaration', 'false');
  return spawnSync(process.execPath, words, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

/** What the compiler leaves behind: programs that simulated Macs run are written for perl. */
function copyPrograms() {
  for (const name of readdirSync(join(root, 'src'), { recursive: true })) {
    if (name.endsWith('.pl')) cpSync(join(root, 'src', name), join(made, name));
  }
}

// Makes the modules of src that are not in git.
await import('./make-sources.mjs');

const digest = sourceDigest();
const stamps = isQuick ? [`checked ${digest}\n`, `quick ${digest}\n`] : [];
const stamp = existsSync(join(dist, stampName)) ? readFileSync(join(dist, stampName), 'utf8') : '';
if (!stamps.includes(stamp)) {
  if (compile() !== 0) {
    rmSync(made, { recursive: true, force: true });
    process.stderr.write('build: the compiler failed\n');
    process.exit(1);
  }
  copyPrograms();
  try {
    await bundleCommandLine(made);
    await bundleDoorman(made);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    throw error;
  }
  chmodSync(join(made, 'cli', 'main.js'), 0o755);
  // The first run shows that the bundle starts, and keeps the compiled code of what most verbs load.
  const first = spawnSync(process.execPath, [join(made, 'cli', 'main.js'), 'validate', 'cluster.example.yaml'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (first.status !== 0) {
    rmSync(made, { recursive: true, force: true });
    throw new Error(`the bundle does not start: ${first.stdout}${first.stderr}`);
  }
  writeFileSync(join(made, stampName), `${isQuick ? 'quick' : 'checked'} ${digest}\n`);
  swapIn();
}
