import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FileValue, fileText, first, second } from '../scenarios/converge-file.ts';
import { diskOf, hasJob, pathsNamed } from './disks.ts';
import { json } from './meshwright.ts';
import { bareFile, pairPlace } from './pair.ts';
import { endedBy } from './talking.ts';

const apply = ['apply', '--sim', '--yes'];
const commit = 'd78bf58e217c904ec282ed8da9b947491f78c022';
const [list, wheel] = ['requirements', 'whl'].map((end) => `mlx-lm-${commit.slice(0, 12)}-python-3.12.${end}`);

/** Everything comes by name: nothing but this file is on this computer. */
const file = (repository: string): FileValue =>
  bareFile((value) => {
    value['runtimes'] = { fork: { driver: 'mlx', source: `github:${repository}@${commit}` } };
    value['models'] = { tiny: { source: 'hf:mlx-community/Llama-3.2-1B-Instruct-4bit' } };
    const placement = { model: 'tiny', runtime: 'fork', nodes: [first, second], sharding: 'tensor', transport: 'rdma' };
    value['placements'] = { chat: { ...placement, context: '8k' } };
  });

const found = (name = ''): readonly string[] => pathsNamed(place, name);
const isBuilding = (node: string = second): boolean => hasJob(place, node, 'list-packages');

const { place, run } = pairPlace(file('acme/missing'), { write: () => Promise.resolve() });

describe("a runtime from a fork's commit", () => {
  it('waits if its repository does not exist', async () => {
    const planned = await run('plan', '--sim', '--json');
    expect([planned.code, JSON.stringify(json(planned))]).toEqual([
      1,
      expect.stringMatching(/acme\/missing\/archive\/[0-9a-f]{40}\.tar\.gz does not exist \(HTTP 404\)/),
    ]);
  });

  it("waits if its commit cannot be built, and shows uv's reason", async () => {
    place.write('cluster.yaml', fileText(file('acme/broken-lm')));
    const ran = await run(...apply, '--allow', 'interrupt', '--json');
    expect([ran.code, JSON.stringify(json(ran)), found(list)]).toEqual([
      1,
      expect.stringMatching(/could not be listed\. On studio-1: .*Failed to build/),
      [],
    ]);
  });

  it('is built on a different node if the first one is gone, even after a kill', async () => {
    place.write('cluster.yaml', fileText(file('acme/mlx-lm')));
    expect((await run('sim', 'fault', 'power-cut', first)).code).toBe(0);
    writeFileSync(join(diskOf(place, second), '.sim/uv'), 'slow\n');
    const killed = await endedBy('SIGKILL', place, apply, () => isBuilding());
    expect([killed.signal, found(list), found(wheel)]).toEqual(['SIGKILL', [], []]);
    await run(...apply);
    const [made = ''] = found(list);
    expect(readFileSync(made, 'utf8')).toContain(`built from github:acme/mlx-lm@${commit}`);
    expect(found(wheel)).toHaveLength(1);
    expect((await run('sim', 'fault', '--clear')).code).toBe(0);
  });

  it('serves with that wheel on every node, and builds nothing again', async () => {
    const [path = ''] = found(wheel);
    const before = readFileSync(path);
    const applied = await run(...apply);
    expect([applied.code, applied.stdout]).toEqual([0, expect.stringContaining('chat serves on studio-1')]);
    const [one, other] = found('mlx_lm-0.32.0.dist-info').map((folder) =>
      readFileSync(join(folder, 'METADATA'), 'utf8'),
    );
    expect([one, isBuilding(first)]).toEqual([other, false]);
    const again = await run(...apply);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('Nothing to change')]);
    expect(readFileSync(path)).toEqual(before);
  });

  it('reports that an archive has changed since it was locked', async () => {
    const [path = ''] = found(list);
    const [lock = ''] = found('cluster.lock');
    const text = readFileSync(lock, 'utf8');
    const changed = text.replace(`mlx-lm+${commit}.tar.gz": "`, '$&0').replace(/(gz": "\w{64})\w/, '$1');
    expect(changed).not.toBe(text);
    writeFileSync(lock, changed);
    rmSync(path);
    const ran = await run(...apply, '--allow', 'interrupt', '--json');
    expect([ran.code, JSON.stringify(json(ran)), found(list)]).toEqual([
      1,
      expect.stringContaining(`The archive of this commit has other bytes than the lock records.`),
      [],
    ]);
  });
});
