import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { type FileValue, fileText, first, second } from '../scenarios/converge-file.ts';
import { diskOf, hasJob, pathsNamed } from './disks.ts';
import { codesOf, json } from './meshwright.ts';
import { bareFile, pairPlace } from './pair.ts';
import { endedBy } from './talking.ts';

const apply = ['apply', '--sim', '--yes'];
const listFile = 'mlx-lm-0.32.0-python-3.12.requirements';

/** Everything comes by name: nothing but this file is on this computer. */
const file = (version: string): FileValue =>
  bareFile((value) => {
    value['runtimes'] = { mlx: { driver: 'mlx', version } };
    value['models'] = { tiny: { source: 'hf:mlx-community/Llama-3.2-1B-Instruct-4bit' } };
    const placement = { model: 'tiny', runtime: 'mlx', nodes: [first, second], sharding: 'tensor', transport: 'rdma' };
    value['placements'] = { chat: { ...placement, context: '8k' } };
  });

/** The IDs in the records of accounts that apply created. */
const accountIds = (node: string, accounts: readonly string[]): readonly string[] => {
  const folder = join(diskOf(place, node), 'Library/Application Support/meshwright/accounts');
  return accounts.map((name) => readFileSync(join(folder, name), 'utf8').split(' ')[0] ?? '');
};

const found = (name: string): readonly string[] => pathsNamed(place, name);
const isListing = (): boolean => [first, second].some((node) => hasJob(place, node, 'list-packages'));

const { place, run } = pairPlace(file('9.9.9'), { write: () => Promise.resolve() });

describe('a runtime with an mlx-lm version', () => {
  it("waits if its version does not exist, and shows uv's reason", async () => {
    const ran = await run(...apply, '--json');
    const document = json(ran);
    expect([ran.code, JSON.stringify(document)]).toEqual([
      1,
      expect.stringMatching(/could not be listed\. On studio-1: .*there is no version of mlx-lm==9\.9\.9/),
    ]);
    expect(found('lists')).toEqual([]);
  });

  it('can be planned before its package list exists, without creating the list', async () => {
    place.write('cluster.yaml', fileText(file('0.32.0')));
    const planned = await run('plan', '--sim');
    expect([planned.code, planned.stdout]).toEqual([0, expect.stringContaining('runtime/mlx/packages')]);
    expect([(await run('drift', '--sim')).code, found('lists'), isListing()]).toEqual([2, [], false]);
  });

  it('serves after a second apply if the first one was killed while a node listed the packages', async () => {
    writeFileSync(join(diskOf(place, first), '.sim/uv'), 'slow\n');
    const killed = await endedBy('SIGKILL', place, apply, isListing);
    expect([killed.signal, found(listFile)]).toEqual(['SIGKILL', []]);
    const applied = await run(...apply);
    expect([applied.code, applied.stdout]).toEqual([0, expect.stringContaining('chat serves on studio-1')]);
    const [list = ''] = found(listFile);
    expect(readFileSync(list, 'utf8')).toContain('mlx-lm==0.32.0 \\\n    --hash=sha256:');
  });

  it('lets each Mac download its model under a separate account', () => {
    const accounts = [first, second].flatMap((node) => accountIds(node, ['_meshrank', '_meshmove']));
    expect(accounts).toEqual(['uid=450', 'uid=452', 'uid=450', 'uid=451']);
  });

  it('keeps its list, and has nothing left to do', async () => {
    const [list = ''] = found(listFile);
    const before = readFileSync(list, 'utf8');
    const again = await run(...apply);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('Nothing to change')]);
    expect([readFileSync(list, 'utf8'), existsSync(join(place.folder, listFile))]).toEqual([before, false]);
  });

  it("needs consent to the interruption before a node lists a new version's packages", async () => {
    place.write('cluster.yaml', fileText(file('0.31.3')));
    const planned = await run('plan', '--sim');
    expect(planned.stdout).toMatch(/a second plan follows in the same apply: .*interrupts\s+chat/s);
    const refused = await run(...apply);
    expect([refused.code, refused.stderr, isListing()]).toEqual([
      5,
      expect.stringMatching(/interrupts chat .*Nothing was changed\./),
      false,
    ]);
    expect(found('mlx-lm-0.31.3-python-3.12.requirements')).toEqual([]);
  });

  it('is upgraded by a playbook, which needs the same consent and makes the list first', async () => {
    const playbook = ['run', 'upgrade-runtime', '--all', '--sim'];
    const checked = await run(...playbook, '--check');
    expect([checked.code, checked.stdout]).toEqual([
      2,
      expect.stringMatching(/interrupts chat.*New in .*the packages of mlx-lm 0\.31\.3/s),
    ]);
    const refused = await run(...playbook, '--yes');
    expect([refused.code, refused.stderr, isListing()]).toEqual([
      5,
      expect.stringMatching(/interrupts chat .*Nothing was changed\./),
      false,
    ]);
    place.write('cluster.yaml', fileText(file('9.9.9')));
    const wrong = await run(...playbook, '--yes', '--allow', 'interrupt', '--json');
    expect([wrong.code, codesOf(json(wrong))]).toEqual([5, ['runtime/packages-unlisted']]);
    place.write('cluster.yaml', fileText(file('0.31.3')));
    const upgraded = await run(...playbook, '--yes', '--allow', 'interrupt', '--json');
    expect([upgraded.code, json(upgraded)]).toEqual([0, expect.objectContaining({ exits: [0] })]);
    expect(json(upgraded)).toMatchObject({ lock: { written: true, additions: [expect.stringContaining('mlx')] } });
    expect((await run('plan', '--sim', '--detailed-exitcode')).code).toBe(0);
  });

  it('can be stopped even if its lock does not have a gateway yet', async () => {
    const [lock = ''] = found('cluster.lock');
    const { runtimes, ...rest } = parse(readFileSync(lock, 'utf8'));
    const { gateway, ...others } = runtimes;
    expect(gateway).toBeDefined();
    writeFileSync(lock, stringify({ ...rest, runtimes: others }));
    const ran = await run('stop', 'chat', '--sim', '--json');
    expect([ran.code, ran.stdout]).toEqual([5, expect.stringContaining('cli/needs-yes')]);
  });
});
