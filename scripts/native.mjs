/**
 * Compiles the native probe into `native/build`. With `--checked FOLDER`, it compiles into that folder what the tests
 * need: the probe and its fuzzer with sanitizers, and the fake verbs library in three variants.
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
const sources = core.map((name) => join(root, 'native/core', name));
const objects = core.map((name) => join(to, name.replace(/cc$/, 'o')));
const [probeMain, fuzzMain] = ['native/probe_main.cc', 'native/test/fuzz_main.cc'].map((path) => join(root, path));
const warnings = ['-Wall', '-Wextra', '-Werror'];
const sanitizers = ['-g', '-O1', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'];
const probeFlags = ['-std=c++20', '-O2', ...warnings, `-DMESHWRIGHT_VERSION="${version}"`];
// Before glibc 2.34, dlopen is in a library of its own.
const libraries = process.platform === 'linux' ? ['-ldl'] : [];
const library = [...warnings, ...sanitizers, '-shared', '-fPIC'];
const fake = ['fake_verbs.c', 'fake_wire.c'].map((name) => join(root, 'native/test', name));
const mutated = join(root, 'native/test/mutated_verbs.c');

const probe = join(to, 'meshwright-probe');
const commands = isChecked
  ? [
      ['c++', ...probeFlags, ...sanitizers, '-c', ...sources],
      ['c++', ...probeFlags, ...sanitizers, probeMain, ...objects, ...libraries, '-o', probe],
      ['c++', ...probeFlags, ...sanitizers, fuzzMain, ...objects, ...libraries, '-o', join(to, 'fuzz')],
      ['cc', ...library, '-pthread', ...fake, '-o', join(to, 'fake-verbs.so')],
      [
        'cc',
        ...library,
        '-pthread',
        ...fake,
        '-Dibv_query_gid=absent',
        '-o',
        join(to, 'fake-verbs-without-query-gid.so'),
      ],
      ['cc', ...library, mutated, ...libraries, '-o', join(to, 'mutated-verbs.so')],
    ]
  : [['c++', ...probeFlags, ...sources, probeMain, ...libraries, '-o', probe]];

if (option !== undefined && !(isChecked && folder)) fail('Usage: node scripts/native.mjs [--checked FOLDER]', 64);
mkdirSync(to, { recursive: true });
for (const [compiler, ...words] of commands) {
  const { error, status } = spawnSync(compiler, words, { cwd: to, stdio: 'inherit' });
  if (error?.code === 'ENOENT')
    fail(`There is no compiler ${compiler}. Install g++, or on a Mac: xcode-select --install`, 1);
  if (status !== 0) fail(`${compiler} failed`, 1);
}
process.stdout.write(`${probe}\n`);

function fail(text, code) {
  process.stderr.write(`${text}\n`);
  process.exit(code);
}
