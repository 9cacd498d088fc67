/**
 * Compiles the native probe, the addon and the verbs library of simulated Macs into `native/build`. With `--checked
 * FOLDER`, it compiles into that folder what the tests need: the probe, its fuzzer and the addon with sanitizers, and the
 * fake verbs library in three variants.
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
const [probeMain, fuzzMain, addonMain] = ['probe_main.cc', 'test/fuzz_main.cc', 'addon.cc'].map((path) =>
  join(root, 'native', path),
);
const warnings = ['-Wall', '-Wextra', '-Werror'];
const sanitizers = ['-g', '-O1', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'];
const flags = ['-std=c++20', '-O2', '-fPIC', ...warnings, `-DMESHWRIGHT_VERSION="${version}"`];
const isLinux = process.platform === 'linux';
// Before glibc 2.34, dlopen is in a library of its own.
const libraries = isLinux ? ['-ldl'] : [];
// The program also runs on computers without a C++ library. The addon uses the library that Node needs.
const ownLibraries = isLinux ? ['-static-libstdc++', '-static-libgcc'] : [];
const withoutNames = isLinux ? '-s' : '-Wl,-x';
const addonFlags = [
  ...['node-addon-api', 'node-api-headers/include'].flatMap((name) => ['-isystem', join(root, 'node_modules', name)]),
  ...['-DNAPI_VERSION=8', '-DNODE_ADDON_API_CPP_EXCEPTIONS', '-DNODE_ADDON_API_CPP_EXCEPTIONS_ALL'],
  ...(isLinux ? ['-shared'] : ['-bundle', '-undefined', 'dynamic_lookup']),
];
const library = [...warnings, ...sanitizers, '-shared', '-fPIC'];
const fake = ['fake_verbs.c', 'fake_wire.c'].map((name) => join(root, 'native/test', name));
const variant = [...library, '-pthread', ...fake];
const simulated = [...warnings, '-O2', '-shared', '-fPIC', '-pthread'];
const mutated = join(root, 'native/test/mutated_verbs.c');

const probe = join(to, 'meshwright-probe');
const toProbe = [probeMain, ...objects, ...libraries, '-o', probe];
const toAddon = [...addonFlags, addonMain, ...objects, ...libraries, '-o', join(to, 'meshwright.node')];
const commands = isChecked
  ? [
      ['c++', ...flags, ...sanitizers, '-c', ...sources],
      ['c++', ...flags, ...sanitizers, ...toProbe],
      ['c++', ...flags, ...sanitizers, ...toAddon],
      ['c++', ...flags, ...sanitizers, fuzzMain, ...objects, ...libraries, '-o', join(to, 'fuzz')],
      ['cc', ...variant, '-o', join(to, 'fake-verbs.so')],
      ['cc', ...variant, '-Dibv_query_gid=absent', '-o', join(to, 'fake-verbs-without-query-gid.so')],
      ['cc', ...library, mutated, ...libraries, '-o', join(to, 'mutated-verbs.so')],
    ]
  : [
      ['c++', ...flags, '-c', ...sources],
      ['c++', ...flags, withoutNames, ...ownLibraries, ...toProbe],
      ['c++', ...flags, withoutNames, ...toAddon],
      ['cc', ...simulated, ...fake, ...libraries, '-o', join(to, 'simulated-verbs.so')],
    ];

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
