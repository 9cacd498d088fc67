import { existsSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { desiredFleet, desiredNode } from '../rack/rack.ts';
import { connect, openSsh, type RunningRack, run, startRack } from '../rack/running.ts';

const desired = desiredFleet({
  nodes: [desiredNode('studio-1'), { ...desiredNode('studio-2'), user: 'ana' }],
  power: {},
  system: { fileVault: 'any', accounts: {} },
  thunderbolt: { bridge: 'remove', rdma: 'auto', avoid: [], links: [], networks: {}, formerNetworks: [] },
});

let rack: RunningRack;
let fleet: Fleet;
beforeAll(async () => {
  rack = await startRack(startFleet, { desired, seed: 'a seed' });
  fleet = rack.fleet;
});
afterAll(() => rack.stop());

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

  it('shows a fault in the very next command, and no trace after it is cleared', async () => {
    const before = await ask('studio-1', 'sudo -n true; date -u +%Y');
    expect((await fleet.setFault(['sudo-denied', 'studio-1'])).kind).toBe('done');
    const during = await ask('studio-1', 'sudo -n true');
    expect([during.code, during.stderr]).toEqual([1, expect.stringMatching(/^sudo: a password is required|sudoers/)]);
    expect((await ask('studio-2', 'sudo -n true')).code).toBe(0);
    await fleet.clearFault(['sudo-denied']);
    expect(await ask('studio-1', 'sudo -n true; date -u +%Y')).toEqual(before);
  });

  it('locks a node at FileVault and accepts logins again afterwards', async () => {
    await fleet.setFault(['filevault-locked', 'studio-1']);
    // The sshd before unlocking has a different key, which the client must not learn.
    const atPreboot = ['-oLogLevel=INFO', '-oUserKnownHostsFile=/dev/null', 'true'];
    const locked = await openSsh(fleet, 'studio-1', atPreboot);
    expect([locked.code, /This system is locked/.test(locked.stderr)]).toEqual([255, true]);
    await fleet.clearFault([]);
    expect((await openSsh(fleet, 'studio-1', ['true'])).code).toBe(0);
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

  it("records a command line that a Mac does not know, and fails with the tool's exit code", async () => {
    const ran = await ask('studio-2', 'sw_vers --everything; stat -c %s x');
    expect(ran.code).not.toBe(0);
    expect((await fleet.unknown())['studio-2']).toEqual([
      expect.stringMatching(/^\/usr\/bin\/sw_vers /),
      expect.stringMatching(/^\/usr\/bin\/stat /),
    ]);
  });
});
