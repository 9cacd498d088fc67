import { existsSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { shared } from '../rack/kept-running.ts';
import { desiredFleet, desiredNode } from '../rack/rack.ts';
import { connect, run, startRack } from '../rack/running.ts';

const desired = desiredFleet({
  nodes: [desiredNode('studio-1'), { ...desiredNode('studio-2'), user: 'ana' }],
  power: {},
  system: { fileVault: 'any', accounts: {} },
  thunderbolt: { bridge: 'remove', rdma: 'auto', avoid: [], links: [], networks: {}, formerNetworks: [] },
});

let fleet: Fleet;
const rack = shared(() => startRack(startFleet, { desired, seed: 'a seed' }));
beforeAll(async () => {
  fleet = rack.fleet;
});

async function ask(name: string, command: string) {
  const client = await connect(fleet, name);
  const ran = await run(client, command);
  client.end();
  return ran;
}

describe('a modeled fleet behind its host', () => {
  it("answers with a Mac's tools, and logs in as each node's user", async () => {
    expect((await ask('studio-1', 'sw_vers -productVersion; whoami')).stdout).toBe('26.5\nmesh\n');
    expect((await ask('studio-2', 'whoami; sudo -n whoami')).stdout).toBe('ana\nroot\n');
  });

  it('gives a replacement Mac an empty disk, and restores the old disk with the old Mac', async () => {
    const disk = fleet.disk('studio-1') ?? '';
    const onDisk = async () => [existsSync(join(disk, 'opt/ours')), await readdir(join(disk, 'Users/mesh'))];
    const session = async (): Promise<string> => (await ask('studio-1', 'sysctl -n kern.bootsessionuuid')).stdout;
    await mkdir(join(disk, 'opt/ours'));
    const before = [await onDisk(), await session()];
    await fleet.setFault(['mac-replaced', 'studio-1']);
    expect(await onDisk()).toEqual([false, []]);
    await fleet.clearFault([]);
    const after = [await onDisk(), await session()];
    expect([before[0], after[0]]).toEqual(Array(2).fill([true, ['.ssh']]));
    expect(after[1]).not.toBe(before[1]);
  });

  it('refuses an unknown or inactive fault without changing anything', async () => {
    const unknownName = await fleet.setFault(['no-such-thing', 'studio-1']);
    const notSet = await fleet.clearFault(['clock-skew', 'studio-1']);
    const codes = [unknownName, notSet].map((one) => (one.kind === 'refused' ? one.diagnostics[0].code : one.kind));
    expect(codes).toEqual(['sim/unknown-fault', 'sim/bad-fault-target']);
  });
});
