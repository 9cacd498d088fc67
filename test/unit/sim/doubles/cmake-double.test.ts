import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNodeRoot } from '../../../../src/sim/hosts/node-root.ts';
import { execEnvironment } from '../../../../src/sim/hosts/ssh/ssh-user.ts';

const folder = mkdtempSync(join(tmpdir(), 'mw-'));
const root = join(folder, 'node');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const files = {
  'CMakeLists.txt': 'project("llama.cpp" C CXX)\noption(BUILD_SHARED_LIBS "x" ON)\n',
  'tools/rpc/CMakeLists.txt': 'set(TARGET rpc-server)\n',
  'src/llama.cpp': '// code\n',
};
beforeAll(async () => {
  await createNodeRoot({ root, user: 'mesh', userKey: 'ssh-ed25519 AAAA' }).then((node) => node.update([]));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, 'source', path)), { recursive: true });
    await writeFile(join(folder, 'source', path), text);
  }
});

function run(tool: string, ...args: readonly string[]) {
  const env = { ...execEnvironment({ root, user: 'mesh', mark: 'test.node' }), R: root };
  const { status, stdout, stderr } = spawnSync(join(root, tool), args, { cwd: folder, env, encoding: 'utf8' });
  return { status, stdout, stderr };
}
const cmake = (...args: readonly string[]) => run('opt/homebrew/bin/cmake', ...args);
const options = ['-DCMAKE_BUILD_TYPE=Release', '-DBUILD_SHARED_LIBS=OFF'];
const configure = (...more: readonly string[]) =>
  cmake('-S', join(folder, 'source'), '-B', join(folder, 'out'), '-G', 'Unix Makefiles', ...options, ...more);

describe('the double of CMake', () => {
  it('reports options that the source does not have', () => {
    const { status, stdout } = configure('-DGGML_RPC=ON');
    expect([status, stdout]).toEqual([0, expect.stringMatching(/not used by the project:\n\n {4}GGML_RPC\n/)]);
  });

  it('builds a target of the source as a program for Apple silicon', () => {
    configure();
    expect(cmake('--build', join(folder, 'out'), '--target', 'help').stdout).toContain('... rpc-server\n');
    expect(cmake('--build', join(folder, 'out'), '--parallel', '2', '--target', 'rpc-server').status).toBe(0);
    expect(readFileSync(join(folder, 'out/bin/rpc-server')).subarray(0, 8).toString('hex')).toBe('cffaedfe0c000001');
  });

  it.each([
    ['an option of its own', ['-DBUILD_SHARED_LIBS=OFF', '--fresh'], 'Unknown argument --fresh'],
    ['shared libraries', ['-DBUILD_SHARED_LIBS=ON'], 'only static libraries'],
  ])('refuses %s', (_what, args, text) => {
    expect(configure(...args)).toMatchObject({ status: 1, stderr: expect.stringContaining(text) });
  });

  it('refuses a target that the source does not have', () => {
    configure();
    const { status, stderr } = cmake('--build', join(folder, 'out'), '--parallel', '2', '--target', 'llama-server');
    expect([status, stderr]).toEqual([2, expect.stringContaining('No rule to make target')]);
  });

  it("reports that Apple's tools are missing", () => {
    const find = () => run('usr/bin/xcode-select', '-p');
    expect(find()).toMatchObject({ status: 0, stdout: '/Library/Developer/CommandLineTools\n' });
    rmSync(join(root, 'Library/Developer'), { recursive: true });
    expect(find()).toMatchObject({ status: 2, stderr: expect.stringContaining('xcode-select: error: unable to get') });
    expect(configure()).toMatchObject({ status: 1, stderr: expect.stringContaining('unable to find a build program') });
  });
});
