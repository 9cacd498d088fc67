import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JobCall } from '../../../../src/model/node-script.ts';
import { stagedBuild, stagedList, stagedSource } from '../../../../src/node/paths/own-paths.ts';
import { rulesTool } from './directory-tool.ts';
import type { MacRoot } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { makeJobRoot, runJob, sha256 } from './run-job.ts';
import { exampleRuntime } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';

const shell = scriptShells.find(({ name }) => name === 'dash') ?? (scriptShells[0] as Shell);

const arm64 = '\\317\\372\\355\\376\\014\\000\\000\\001';
const x86 = '\\317\\372\\355\\376\\007\\000\\000\\001';

interface Cmake {
  /** sh code of each of its three calls. */
  readonly configure?: string;
  readonly help?: string;
  readonly build?: string;
}
const targets = (...names: readonly string[]): string =>
  `printf '... %s\\n' ${['all', ...names, 'server-context'].join(' ')}`;
const programs = (start: string, ...names: readonly string[]): string =>
  `mkdir -p "$2/bin"; for x in ${names.join(' ')}; do printf '${start}%s' "$x" >"$2/bin/$x"; done; printf '[ 42%%] Building\\n'`;

function cmakeText({ configure = ':', help, build }: Cmake): string {
  const all = ['llama-server', 'ggml-rpc-server'];
  return `PATH=/bin:/usr/bin
case $1:$4 in
(-S:*) ${configure} ;;
(*:help) ${help ?? targets(...all)} ;;
(*) ${build ?? programs(arm64, ...all)} ;;
esac`;
}

const newRoot = removedAfter((cmake: Cmake): MacRoot => {
  const root = makeJobRoot(shell);
  const made = join(dirname(root.folder), 'made');
  mkdirSync(join(made, 'llama.cpp-main'), { recursive: true });
  writeFileSync(join(made, 'llama.cpp-main/CMakeLists.txt'), 'project("llama.cpp")\n');
  root.file(stagedSource(exampleRuntime).path, '');
  const archive = join(root.folder, stagedSource(exampleRuntime).path);
  execFileSync('tar', ['-czf', archive, '-C', made, 'llama.cpp-main']);
  root.tool('bin/sleep', 'exec /bin/sleep 0.05');
  root.tool('usr/bin/env', 'exec /usr/bin/env "$@"');
  root.tool('usr/bin/mktemp', 'f=${2%XXXXXX}made; /bin/mkdir "$f" && printf \'%s\\n\' "$f"');
  root.tool('usr/bin/sudo', `case $1 in (-n) shift 4; exec "$@" ;; esac\n${rulesTool('$R/../s')}`);
  root.tool('usr/bin/xcode-select', "printf '/Library/Developer/CommandLineTools\\n'");
  root.tool('Library/Developer/CommandLineTools/usr/bin/make', 'exit 2');
  root.recorded('opt/homebrew/bin/cmake', cmakeText(cmake));
  return root;
});

const build = (root: MacRoot, mostBytes = 1_000_000) => {
  const sha = sha256(readFileSync(join(root.folder, stagedSource(exampleRuntime).path)));
  const call: JobCall = {
    name: 'build-archive',
    args: { tree: exampleRuntime, sha256: sha, commit: '0123456789ab', account: 'mesh', mostBytes },
  };
  return runJob(root, call);
};

/** The names in the archive, and whether the file next to it has its sha256. */
function packed(root: MacRoot) {
  const archive = join(root.folder, stagedBuild(exampleRuntime).path);
  const names = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).split('\n').filter(Boolean).sort();
  return { names, isRecorded: root.read(stagedList(exampleRuntime).path) === `${sha256(readFileSync(archive))}\n` };
}

const both = { names: ['bin/', 'bin/ggml-rpc-server', 'bin/llama-server'], isRecorded: true };

describe('build-archive', () => {
  it('packs both programs, which need no Homebrew library and run on any Apple silicon Mac', async () => {
    const root = newRoot({});
    expect(await build(root)).toMatchObject({ exit: 0 });
    expect(packed(root)).toEqual(both);
    const [configure = '', , last = ''] = root.calls().filter((one) => one.startsWith('cmake '));
    const folder = configure.replace(/^.* -B (.+)\/out -G .*$/, '$1');
    expect(configure.replaceAll(folder, 'FOLDER')).toBe(
      `cmake -S FOLDER/source/llama.cpp-main -B FOLDER/out -G Unix Makefiles -DCMAKE_BUILD_TYPE=Release -DCMAKE_OSX_ARCHITECTURES=arm64 -DCMAKE_OSX_DEPLOYMENT_TARGET=15.0 -DBUILD_SHARED_LIBS=OFF -DGGML_METAL=ON -DGGML_METAL_EMBED_LIBRARY=ON -DGGML_RPC=ON -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DGGML_CCACHE=OFF -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TOOLS=ON -DLLAMA_BUILD_SERVER=ON -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_BUILD_COMMIT=0123456789ab`,
    );
    expect(last).toMatch(/ --parallel \d+ --target llama-server ggml-rpc-server$/);
    expect(root.has(folder.slice(root.folder.length + 1))).toBe(false);
  });

  it('packs the worker under its current name if the commit uses the old one', async () => {
    const old = ['llama-server', 'rpc-server'];
    const root = newRoot({ help: targets(...old), build: programs(arm64, ...old) });
    expect(await build(root)).toMatchObject({ exit: 0 });
    expect(packed(root)).toEqual(both);
  });

  it.each(['usr/local/bin', 'Applications/CMake.app/Contents/bin'])('finds CMake in /%s', async (folder) => {
    const root = newRoot({});
    root.tool('opt/homebrew/bin/cmake', 'exit 1');
    execFileSync('chmod', ['-x', join(root.folder, 'opt/homebrew/bin/cmake')]);
    root.recorded(`${folder}/cmake`, cmakeText({}));
    expect(await build(root)).toMatchObject({ exit: 0 });
  });

  it.each([
    ['exit 2', 'no-tools', /xcode-select --install/],
    ["printf '/Applications/Old.app/Contents/Developer\\n'", 'no-tools', /xcode-select --install/],
  ])("starts nothing without Apple's command line tools: %s", async (body, slug, text) => {
    const root = newRoot({});
    root.tool('usr/bin/xcode-select', body);
    expect(await build(root)).toMatchObject({ exit: 1, failure: { slug, text: expect.stringMatching(text) } });
    expect(root.calls().filter((one) => one.startsWith('cmake '))).toEqual([]);
  });

  it('reports that CMake is missing, and how to install it', async () => {
    const root = newRoot({});
    execFileSync('rm', [join(root.folder, 'opt/homebrew/bin/cmake')]);
    const text = expect.stringContaining('brew install cmake');
    expect(await build(root)).toMatchObject({ exit: 1, failure: { slug: 'no-cmake', text } });
  });

  const compiler = [
    '[  7%] Building CXX object src/llama.cpp.o',
    `'"$HOME"'/source/llama.cpp-main/src/llama.cpp:12:3: error: use of undeclared identifier moe`,
    'clang++: error: linker command failed',
    'make[2]: *** [src/llama.cpp.o] Error 1',
  ];
  const linker = [
    'Undefined symbols for architecture arm64:',
    'ld: symbols not found',
    'clang++: error: linker command failed',
  ];
  const configuring = [
    '-- The C compiler',
    'CMake Error at CMakeLists.txt:3 (message):',
    '  GGML needs',
    '  a newer CMake.',
    '',
    '-- Configuring incomplete, errors occurred!',
  ];
  const printed = (lines: readonly string[]): string =>
    `printf '%s\\n' ${lines.map((one) => `'${one}'`).join(' ')}; exit 2`;
  it.each<readonly [string, Cmake, string, string]>([
    [
      'the compiler',
      { build: printed(compiler) },
      'build',
      'cmake: src/llama.cpp:12:3: error: use of undeclared identifier moe',
    ],
    ['the linker', { build: printed(linker) }, 'build', 'cmake: Undefined symbols for architecture arm64:'],
    [
      'CMake',
      { configure: printed(configuring) },
      'configure',
      'cmake: CMake Error at CMakeLists.txt:3 (message): GGML needs a newer CMake.',
    ],
    ['a tool without a message', { build: 'exit 1' }, 'build', 'cmake: it failed without a message'],
    [
      'a commit without the two programs',
      { help: targets('llama-server') },
      'no-target',
      'the commit does not build llama-server and ggml-rpc-server, as llama.cpp does',
    ],
    [
      'a build that leaves out a program',
      { build: programs(arm64, 'llama-server') },
      'no-result',
      'no ggml-rpc-server was written',
    ],
    [
      'a build for Intel',
      { build: programs(x86, 'llama-server', 'ggml-rpc-server') },
      'not-for-macs',
      'the build of llama-server is not a program for Apple silicon',
    ],
  ])('fails with a reason for %s', async (_what, cmake, slug, text) => {
    const root = newRoot(cmake);
    expect(await build(root)).toMatchObject({ exit: 1, failure: { slug, text } });
    expect([root.has(stagedBuild(exampleRuntime).path), root.has(stagedList(exampleRuntime).path)]).toEqual([
      false,
      false,
    ]);
  });

  it('refuses an archive above the limit', async () => {
    const root = newRoot({});
    const text = expect.stringMatching(/^the archive of the build has \d+ bytes, more than 100$/);
    expect(await build(root, 100)).toMatchObject({ exit: 1, failure: { slug: 'too-long', text } });
  });
});
