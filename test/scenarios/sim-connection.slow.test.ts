import { afterEach, describe, expect, it } from 'vitest';
import { type Fleet, startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import type { ConnectionState } from '../../src/sim/model/fleet.ts';
import { bareModel, connect, eventually, freshFolder, removeFolder, run } from '../rack/running.ts';

const started: { readonly fleet: Fleet; readonly folder: string }[] = [];
afterEach(async () => {
  for (const { fleet, folder } of started.splice(0)) {
    await fleet.stop();
    await removeFolder(folder);
  }
});

async function fleetWith(connection: Partial<ConnectionState>): Promise<Fleet> {
  const folder = await freshFolder();
  const fleet = await startFleet({ folder, model: bareModel(['studio-1'], connection) });
  started.push({ fleet, folder });
  return fleet;
}

/** The bytes that arrive on a plain socket until the node hangs up. */
async function received(fleet: Fleet): Promise<number> {
  const { connect: dial } = await import('node:net');
  return new Promise((resolve, reject) => {
    let bytes = 0;
    const socket = dial(fleet.nodes['studio-1']?.port ?? 0, '127.0.0.1');
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    socket.once('connect', () => socket.write('SSH-2.0-test\r\n'));
    socket.once('error', reject);
    socket.once('end', () => {
      socket.destroy();
      resolve(bytes);
    });
  });
}

const bigOutput = 'i=0; while [ $i -lt 4000 ]; do printf "%0100d\\n" $i; i=$((i+1)); done';

describe('a simulated node that drops connections', () => {
  it.each([0, 1, 10, 22, 300])('sends exactly %i bytes and then ends the stream', async (bytes) => {
    expect(await received(await fleetWith({ dropAfterBytes: bytes }))).toBe(bytes);
  });

  it('counts all bytes on the connection, whatever they contain', async () => {
    const fleet = await fleetWith({ dropAfterBytes: 60_000 });
    const client = await connect(fleet, 'studio-1');
    const ran = await run(client, bigOutput);
    expect([ran.code, ran.stdout.length > 20_000]).toEqual([null, true]);
    expect(await eventually(() => fleet.counts()['studio-1']?.sentBytes === 60_000)).toBe(true);
  });
});

describe('a simulated node that waits for its FileVault password', () => {
  it('shows a separate host key or the usual one, since the behavior of real Macs is unknown', async () => {
    const shownBy = async (fleet: Fleet): Promise<string> => {
      let seen = '';
      const hostVerifier = (key: Buffer): boolean => {
        seen = `ssh-ed25519 ${key.toString('base64')}`;
        return true;
      };
      await expect(connect(fleet, 'studio-1', { hostVerifier })).rejects.toThrow();
      return seen;
    };
    const own = await fleetWith({ filevault: 'preboot' });
    expect(await shownBy(own)).toBe(own.nodes['studio-1']?.prebootKey);
    expect(own.nodes['studio-1']?.prebootKey).not.toBe(own.nodes['studio-1']?.hostKey);
    const same = await fleetWith({ filevault: 'preboot', prebootKey: 'same' });
    expect(await shownBy(same)).toBe(same.nodes['studio-1']?.hostKey);
  });
});
