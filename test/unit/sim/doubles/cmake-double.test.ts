import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { shared } from '../../../rack/kept-running.ts';
import { bareNode } from '../hosts/bare-node.ts';

const node = shared(bareNode);
const files = {
  'CMakeLists.txt': 'project("llama.cpp" C CXX)\noption(BUILD_SHARED_LIBS "x" ON)\n',
  'tools/rpc/CMakeLists.txt': 'set(TARGET rpc-server)\n',
  'src/llama.cpp': '// code\n',
};
beforeAll(async () => {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(node.home(`source/${path}`)), { recursive: true });
    await writeFile(node.home(`source/${path}`), text);
  }
});

const run = (tool: string, ...args: readonly string[]) => node.run(join(node.root, tool), args);
const cmake = (...args: readonly string[]) => run('opt/homebrew/bin/cmake', ...args);
const options = ['-DCMAKE_BUILD_TYPE=Release', '-DBUILD_SHARED_LIBS=OFF'];
const configure = (...more: readonly string[]) =>
  cmake('-S', 'source', '-B', 'out', '-G', 'Unix Makefiles', ...options, ...more);

describe('the double of CMake', () => {
  it('reports options that the source does not have', async () => {
    const { code, out } = await configure('-DGGML_RPC=ON');
    expect([code, out]).toEqual([0, expect.stringMatching(/not used by the project:\n\n {4}GGML_RPC\n/)]);
  });

  it.each([
    ['an option of its own', ['-DBUILD_SHARED_LIBS=OFF', '--fresh'], 'Unknown argument --fresh'],
    ['shared libraries', ['-DBUILD_SHARED_LIBS=ON'], 'only static libraries'],
  ])('refuses %s', async (_what, args, text) => {
    expect(await configure(...args)).toMatchObject({ code: 1, err: expect.stringContaining(text) });
  });

  it('refuses a target that the source does not have', async () => {
    await configure();
    const { code, err } = await cmake('--build', 'out', '--parallel', '2', '--target', 'llama-server');
    expect([code, err]).toEqual([2, expect.stringContaining('No rule to make target')]);
  });
});
