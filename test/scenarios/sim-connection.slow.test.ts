import { afterEach, describe, expect, it } from 'vitest';
import { type Fleet, startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { prebootBanner } from '../../src/sim/hosts/ssh/ssh-server.ts';
import type { ConnectionState } from '../../src/sim/model/fleet.ts';
import { bareModel, connect, eventually, freshFolder, openSsh, removeFolder, run } from '../rack/running.ts';

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

  it('makes the OpenSSH client exit with 255', async () => {
    const ran = await openSsh(await fleetWith({ dropAfterBytes: 60_000 }), 'studio-1', [bigOutput]);
    expect([ran.code, ran.stdout.length > 20_000]).toEqual([255, true]);
  });
});

describe('a simulated node that waits for its FileVault password', () => {
  it('shows its banner and refuses the usual key', async () => {
    const fleet = await fleetWith({ filevault: 'preboot' });
    const ran = await openSsh(fleet, 'studio-1', ['-oLogLevel=INFO', 'true']);
    expect(ran.code).toBe(255);
    expect(ran.stderr.replaceAll('\r', '')).toContain(prebootBanner);
    expect(ran.stderr).toMatch(/Permission denied \(password\)/);
  });

  it('shows the banner to an ssh2 client, and allows only a password', async () => {
    const fleet = await fleetWith({ filevault: 'preboot' });
    const { Client } = (await import('ssh2')).default;
    const client = new Client();
    const banners: string[] = [];
    client.on('banner', (text) => banners.push(text));
    const failed = new Promise<string>((resolve) => {
      client.on('error', (error) => resolve(error.message));
    });
    const { port = 0 } = fleet.nodes['studio-1'] ?? {};
    client.connect({ host: '127.0.0.1', port, username: 'mesh', password: 'wrong', tryKeyboard: true });
    expect(await failed).toMatch(/authentication methods failed/);
    expect(banners).toEqual([`${prebootBanner}\r\n`]);
  });

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

  it("accepts the account's password, prints a message, and drops the connection", async () => {
    const fleet = await fleetWith({ filevault: 'preboot' });
    const { Client } = (await import('ssh2')).default;
    const client = new Client();
    const { port = 0 } = fleet.nodes['studio-1'] ?? {};
    const message = await new Promise<string>((resolve, reject) => {
      let text = '';
      client.on('error', reject).on('close', () => resolve(text));
      client.on('ready', () =>
        client.shell((error, channel) => {
          if (error) reject(error);
          else channel.on('data', (chunk: Buffer) => (text += chunk));
        }),
      );
      client.connect({ host: '127.0.0.1', port, username: 'mesh', password: 'simulated' });
    });
    expect(message).toBe('System successfully unlocked.\n');
    expect(fleet.counts()['studio-1']).toMatchObject({ prebootPasswords: 1, hastyPasswords: 0 });
  });
});

describe('a simulated node with a changed host key', () => {
  it('is refused by a client that knows the usual key', async () => {
    const state: { hostKey: 'own' | 'other' } = { hostKey: 'own' };
    const folder = await freshFolder();
    const model = bareModel(['studio-1']);
    const look = (node: string) => ({
      ...model.look(node),
      connection: { hostKey: state.hostKey, filevault: 'unlocked' as const },
    });
    const fleet = await startFleet({ folder, model: { ...model, look } });
    started.push({ fleet, folder });
    expect((await openSsh(fleet, 'studio-1', ['true'])).code).toBe(0);
    state.hostKey = 'other';
    await fleet.setFault([]);
    const ran = await openSsh(fleet, 'studio-1', ['true']);
    expect([ran.code, /IDENTIFICATION HAS CHANGED/.test(ran.stderr)]).toEqual([255, true]);
    state.hostKey = 'own';
    await fleet.clearFault([]);
    expect((await openSsh(fleet, 'studio-1', ['true'])).code).toBe(0);
  });
});
