/**
 * Compiles the native probe into `native/build`. With `--checked FOLDER`, it compiles into that folder what the tests
 * need: the probe with sanitizers, the fake verbs library, and one copy of the library without a function.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const [option, folder] = process.argv.slice(2);
const isChecked = option === '--checked';
const to = isChecked ? folder : join(root, 'native/build');

const core = readdirSync(join(root, 'native/core')).filter((name) => name.endsWith('.cc'));
const sources = [...core.map((name) => `native/core/${name}`), 'native/probe_main.cc'];
const warnings = ['-Wall', '-Wextra', '-Werror'];
const sanitizers = ['-g', '-O1', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'];
const probeFlags = ['-std=c++20', '-O2', ...warnings, `-DMESHWRIGHT_VERSION="${version}"`];
// Before glibc 2.34, dlopen is in a library of its own.
const libraries = process.platform === 'linux' ? ['-ldl'] : [];
const fakeSources = ['native/test/fake_verbs.c', 'native/test/fake_wire.c'];
const fake = [...warnings, ...sanitizers, '-shared', '-fPIC', '-pthread', ...fakeSources];

const commands = isChecked
  ? [
      ['c++', ...probeFlags, ...sanitizers, ...sources, ...libraries, '-o', join(to, 'meshwright-probe')],
      ['cc', ...fake, '-o', join(to, 'fake-verbs.so')],
      ['cc', ...fake, '-Dibv_query_gid=absent', '-o', join(to, 'fake-verbs-without-query-gid.so')],
    ]
  : [['c++', ...probeFlags, ...sources, ...libraries, '-o', join(to, 'meshwright-probe')]];

if (option !== undefined && !(isChecked && folder)) fail('Usage: node scripts/native.mjs [--checked FOLDER]', 64);
mkdirSync(to, { recursive: true });
for (const [compiler, ...words] of commands) {
  const { error, status } = spawnSync(compiler, words, { cwd: root, stdio: 'inherit' });
  if (error?.code === 'ENOENT')
    fail(`There is no compiler ${compiler}. Install g++, or on a Mac: xcode-select --install`, 1);
  if (status !== 0) fail(`${compiler} failed`, 1);
}
process.stdout.write(`${join(to, 'meshwright-probe')}\n`);

function fail(text, code) {
  process.stderr.write(`${text}\n`);
  process.exit(code);
}
