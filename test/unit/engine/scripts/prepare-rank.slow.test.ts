import { describe, expect, it } from 'vitest';
import { scriptBody } from '../../../../src/engine/scripts/registry.ts';
import type { JobArgs, JobCall } from '../../../../src/model/node-script.ts';
import type { Word } from '../../../../src/model/probe.ts';
import { below } from '../../../../src/node/paths/node-paths.ts';
import { jobFolder, preparedMark, rankFile } from '../../../../src/node/paths/own-paths.ts';
import { until } from '../../../until.ts';
import { rulesTool } from './directory-tool.ts';
import type { MacRoot } from './mac-root.ts';
import { isAlive, removedAfter } from './node-root.ts';
import { ended, key, launch, makeJobRoot, poll, runJob, sha256 } from './run-job.ts';
import { scriptShells } from './shells.ts';

const newRoot = removedAfter(makeJobRoot);
const name = 'data-0123456789abcdef';
const data = rankFile('kimi', name);
const inData = (file: string): string => below(data, file).path;

/** A node whose sudo runs every command as the only account. */
function makeRoot(shell: Parameters<typeof newRoot>[0]): MacRoot {
  const root = newRoot(shell);
  root.recorded('usr/bin/sudo', `if [ "$1" = -l ]; then ${rulesTool('$R/../s')}; else shift 4; exec "$@"; fi`);
  root.tool('usr/bin/env', 'exec /usr/bin/env "$@"');
  return root;
}

const preparation = (script: string, changes: Partial<JobArgs['prepare-rank']> = {}): JobCall => ({
  name: 'prepare-rank',
  args: {
    placement: 'kimi',
    key,
    name,
    account: '',
    env: { LEVEL: ['in', 'fo'], STATE: [data, '/state'] },
    argv: (['/bin/sh', '-c', script, 'prepare', "it's", ''] satisfies Word[]).map((word) => [word]),
    ...changes,
  },
});

describe.concurrent.each(scriptShells)('the preparation of a rank in $name', (shell) => {
  it('runs once in its folder, with its arguments and its environment', async () => {
    const root = makeRoot(shell);
    const call = preparation('echo "$LEVEL|$STATE|$*|$#" >>said; echo done');
    expect(await runJob(root, call)).toMatchObject({ state: 'ended', exit: 0 });
    expect(root.read(inData('said'))).toBe(`info|${root.folder}${data.path}/state|it's |2\n`);
    expect(root.read(preparedMark('kimi', name).path)).toBe(`${key}\n`);
    expect(await launch(root, call)).toEqual({ kind: 'done', isChanged: false, said: ['job=done'] });
    expect(root.read(inData('said')).split('\n')).toHaveLength(2);
  });

  it('fails with the last lines of its output, and runs again in the same folder', async () => {
    const root = makeRoot(shell);
    const call = preparation('echo x >>tries; for n in 1 2 3 4 5 6; do echo "line $n"; done; [ -e ready ] || exit 3');
    expect(await runJob(root, call)).toMatchObject({
      exit: 1,
      failure: { slug: 'prepare', text: 'it exited with 3: line 2 | line 3 | line 4 | line 5 | line 6' },
    });
    expect(root.has(preparedMark('kimi', name).path)).toBe(false);
    root.file(inData('ready'), '');
    expect(await runJob(root, call)).toMatchObject({ exit: 0 });
    expect(root.read(inData('tries'))).toBe('x\nx\n');
  });

  it('stops the leftover processes of a killed job before it runs again', async () => {
    const root = makeRoot(shell);
    const call = preparation('echo $$ >>pids; [ -e ready ] || exec sleep 60');
    await launch(root, call);
    await until(() => root.has(inData('pids')) && root.read(inData('pids')).includes('\n'));
    const first = Number(root.read(inData('pids')));
    const job = Number(root.read(`${jobFolder(key).path}/pid`));
    process.kill(job, 'SIGKILL');
    await until(() => !isAlive(job));
    expect([(await poll(root)).state, isAlive(first)]).toEqual(['gone', true]);
    root.file(inData('ready'), '');
    expect(await runJob(root, call)).toMatchObject({ exit: 0 });
    expect(isAlive(first)).toBe(false);
  });

  it('ends when the rank is removed, whichever version it prepares', async () => {
    const root = makeRoot(shell);
    root.tool('bin/launchctl', 'echo "Could not find service"; exit 113');
    const waiting = preparation('echo $$ >pid; exec sleep 60', { name: 'data-older', key: sha256('older') });
    await launch(root, waiting);
    const file = below(rankFile('kimi', 'data-older'), 'pid').path;
    await until(() => root.has(file) && root.read(file).includes('\n'));
    const pid = Number(root.read(file));
    const { result } = await root.runBody(scriptBody({ name: 'remove-rank', args: { placement: 'kimi' } }));
    expect(result).toMatchObject({ kind: 'done', isChanged: true });
    expect([isAlive(pid), root.has(data.path)]).toEqual([false, false]);
    expect(await ended(root)).toMatchObject({ state: 'ended', exit: 1 });
  });

  it('counts the bytes of its folder as progress', async () => {
    const root = makeRoot(shell);
    await launch(root, preparation('printf 12345 >part; until [ -e go ]; do sleep 0.1; done'));
    await until(() => root.has(`${jobFolder(key).path}/progress`));
    await until(async () => (await poll(root)).done === 5);
    root.file(inData('go'), '');
    expect((await ended(root)).exit).toBe(0);
  });
});
