import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FileValue, fileText, first, second } from '../scenarios/converge-file.ts';
import { diskOf, hasJob, pathsNamed } from './disks.ts';
import { json } from './meshwright.ts';
import { bareFile, pairPlace } from './pair.ts';
import { endedBy } from './talking.ts';

const apply = ['apply', '--sim', '--yes'];
const commit = 'd78bf58e217c904ec282ed8da9b947491f78c022';
const archive = `llama.cpp-${commit.slice(0, 12)}-macos-arm64.tar.gz`;

/** Everything comes by name: nothing but this file is on this computer. */
const file = (repository: string): FileValue =>
  bareFile((value) => {
    value['runtimes'] = { llama: { driver: 'llamacpp-rpc', source: `github:${repository}@${commit}` } };
    value['models'] = { tiny: { source: 'hf:acme/tiny-GGUF' } };
    const placement = { model: 'tiny', runtime: 'llama', nodes: [first, second], sharding: 'pipeline' };
    value['placements'] = { chat: { ...placement, transport: 'rdma', context: '8k' } };
  });

const found = (name = ''): readonly string[] => pathsNamed(place, name);
const onDisk = (path: string): string => join(diskOf(place, first), path);
const isBuilding = (): boolean => hasJob(place, first, 'build-archive');

const { place, run } = pairPlace(file('acme/broken-llama'), { write: () => Promise.resolve() });

describe('llama.cpp from a commit', () => {
  it.each([
    ['CMake', 'opt/homebrew/bin/cmake', /failed\. On studio-1: .*brew install cmake/],
    ["Apple's command line tools", 'Library/Developer', /failed\. On studio-1: .*xcode-select --install/],
  ])('waits for %s on the node that builds it', async (_what, path, reason) => {
    renameSync(onDisk(path), onDisk(`${path}.away`));
    const ran = await run(...apply, '--allow', 'interrupt', '--json');
    renameSync(onDisk(`${path}.away`), onDisk(path));
    expect([ran.code, JSON.stringify(json(ran)), found(archive)]).toEqual([1, expect.stringMatching(reason), []]);
  });

  it("waits if the commit does not compile, and shows the compiler's error", async () => {
    const ran = await run(...apply, '--allow', 'interrupt', '--json');
    const error = `cmake: src/llama.cpp:2:2: error: no member named 'moe'`;
    expect([ran.code, JSON.stringify(json(ran)), found(archive)]).toEqual([1, expect.stringContaining(error), []]);
  });

  it('is built on one node, where apply continues a killed build', async () => {
    place.write('cluster.yaml', fileText(file('acme/old-llama')));
    writeFileSync(onDisk('.sim/cmake'), 'slow\n');
    const killed = await endedBy('SIGKILL', place, apply, isBuilding);
    expect([killed.signal, found(archive)]).toEqual(['SIGKILL', []]);
    const applied = await run(...apply);
    expect([applied.code, applied.stdout]).toEqual([0, expect.stringContaining('chat serves on studio-1')]);
    expect(found(archive)).toHaveLength(1);
  });

  it('is not built again', async () => {
    const again = await run(...apply);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('Nothing to change')]);
  });

  it("reports that the commit's archive has changed since it was locked", async () => {
    const [path = ''] = found(archive);
    const [lock = ''] = found('cluster.lock');
    const text = readFileSync(lock, 'utf8');
    const changed = text.replace(`llama+${commit}.tar.gz": "`, '$&0').replace(/(gz": "\w{64})\w/, '$1');
    expect(changed).not.toBe(text);
    writeFileSync(lock, changed);
    rmSync(path);
    const ran = await run(...apply, '--allow', 'interrupt', '--json');
    expect([ran.code, JSON.stringify(json(ran)), found(archive)]).toEqual([
      1,
      expect.stringContaining('The archive of this commit has other bytes than the lock records.'),
      [],
    ]);
  });
});
