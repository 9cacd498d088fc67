import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { rankProgram, rankProgramName } from '../../../../src/drivers/mlx/configure.ts';
import { observe } from '../../../../src/drivers/mlx/mlx.ts';
import { gpuBytesOf } from '../../../../src/rack/memory/fact.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

const hasPython = spawnSync('python3', ['-c', ''], { timeout: 120_000 }).status === 0;

/** The parts of mlx and mlx-lm that the program calls. Both only print their calls. */
const core = `import os
class Group:
    def rank(self): return int(os.environ["TEST_RANK"])
    def size(self): return int(os.environ["TEST_SIZE"])
class distributed:
    @staticmethod
    def init(strict=False, backend="any"):
        print("init", strict, backend)
        if os.environ["TEST_SIZE"] == "0": raise RuntimeError("[jaccl] Couldn't connect (error: 61)")
        return Group()
def device_info():
    return {"max_recommended_working_set_size": int(os.environ["TEST_GPU"])}
`;
const server = `import sys
def main(): print("server", sys.argv)
`;

const { path: folder, write } = temporaryFolder();
const program = write(rankProgramName, rankProgram);
for (const name of ['mlx', 'mlx_lm']) write(`${name}/__init__.py`, '');
write('mlx/core.py', core);
write('mlx_lm/server.py', server);

function start(words: readonly string[], env: Readonly<Record<string, string>>) {
  const { status, stdout, stderr } = spawnSync('python3', ['-u', program, ...words], {
    env: { PATH: process.env['PATH'], PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1', ...env },
    encoding: 'utf8',
  });
  return { status, lines: stdout.split('\n').slice(0, -1), error: stderr.split('\n').at(-2) };
}

const group = { MLX_RANK: '1', TEST_RANK: '1', TEST_SIZE: '4' };

describe.skipIf(!hasPython)('the mlx rank program', () => {
  it('joins its group strictly, prints its size, and becomes the server with the remaining arguments', () => {
    const { status, lines } = start(['jaccl', '4', '--model', '/m', '--port', '8080'], group);
    expect([status, lines]).toEqual([
      0,
      [
        'init True jaccl',
        'meshwright: group of 4 ranks over jaccl',
        "server ['mlx_lm.server', '--model', '/m', '--port', '8080']",
      ],
    ]);
    expect(observe(lines)).toEqual({ size: 4, transport: 'rdma' });
  });

  it('does not load a model if its group is too small', () => {
    const { status, lines, error } = start(['jaccl', '4'], { ...group, TEST_SIZE: '1' });
    expect([status, lines]).toEqual([1, ['init True jaccl']]);
    expect(error).toBe('meshwright: group of 1 ranks over jaccl instead of 4');
  });

  it('refuses a different rank number than the one it was started with', () => {
    const { status, error } = start(['ring', '4'], { ...group, TEST_RANK: '2' });
    expect([status, error]).toEqual([1, 'meshwright: this is rank 2 of the group instead of 1']);
  });

  it("exits with mlx's error if there is no group", () => {
    const { status, error } = start(['jaccl', '4'], { ...group, TEST_SIZE: '0' });
    expect([status, error]).toEqual([1, "RuntimeError: [jaccl] Couldn't connect (error: 61)"]);
  });

  it('prints the GPU memory limit before it loads a model', () => {
    const { lines } = start(['jaccl', '4'], { ...group, TEST_GPU: '498216206336' });
    expect(lines.slice(1, 3)).toEqual([
      'meshwright: group of 4 ranks over jaccl',
      'meshwright: the GPU may use 498216206336 bytes',
    ]);
    expect(lines.map(gpuBytesOf)).toEqual([undefined, undefined, 498_216_206_336, undefined]);
  });

  it('does not join a group as a single rank', () => {
    const { status, lines } = start(['alone', '1', '--port', '1'], {});
    expect([status, lines]).toEqual([
      0,
      ['meshwright: group of 1 ranks over none', "server ['mlx_lm.server', '--port', '1']"],
    ]);
    expect(observe(lines)).toEqual({ size: 1 });
  });
});
