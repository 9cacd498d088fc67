import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { peersFolder } from '../../../../src/node/paths/own-paths.ts';
import { sh } from '../../../../src/rack/artifacts/peers/scripts.generated.ts';
import { makeKeyPair } from '../../../../src/remote/keys/exchange-key.ts';
import { hasSshd, type Sshd, startSshd } from '../../../sshd/start-sshd.ts';
import { type MacRoot, makeMacRoot } from './mac-root.ts';
import { exampleModel } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';

const peers = peersFolder(exampleModel).path.slice(1);
const keysFile = 'Users/mesh/.ssh/authorized_keys';
const tunnel = join(import.meta.dirname, '../../../../src/rack/artifacts/peers/tunnel.pl');

/** A server that greets and then sends back what it gets. */
function listen(at: string | number, connected: () => void): Promise<Server> {
  const server = createServer((socket) => {
    connected();
    socket.on('error', () => undefined);
    socket.write('hello\n');
    socket.pipe(socket);
  });
  return new Promise((resolve) => {
    if (typeof at === 'number') server.listen(at, '127.0.0.1', () => resolve(server));
    else server.listen(at, () => resolve(server));
  });
}
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

describe.skipIf(!hasSshd())('the SSH key of an exchange', () => {
  const folder = mkdtempSync(join(tmpdir(), 'meshwright-login-'));
  const socket = join(folder, 'private.sock');
  const reached: string[] = [];
  let root: MacRoot;
  let servers: readonly Server[] = [];
  let sshd: Sshd;

  beforeAll(async () => {
    const names = ['program', 'other', 'socket'] as const;
    servers = await Promise.all(names.map((name) => listen(name === 'socket' ? socket : 0, () => reached.push(name))));
    const { privateKey, publicKey } = makeKeyPair();
    writeFileSync(join(folder, 'key'), privateKey, { mode: 0o600 });
    root = makeMacRoot(scriptShells[0] as Shell);
    root.file(keysFile, '');
    mkdirSync(join(root.folder, peers), { recursive: true });
    copyFileSync(tunnel, join(root.folder, peers, 'tunnel.pl'));
    const grant = `HOME="$R/Users/mesh"\ngrant "$R/${peers}" ${portOf(servers[0] as Server)} '${publicKey.trim()}'`;
    await root.runBody(`${sh.exchangeKeys({})}\n${grant}\nchanged`);
    // On a Mac, this folder is `/`; here, its name has characters that a line of the file cannot quote.
    symlinkSync(root.folder, join(folder, 'mac'));
    const userKeys = root.read(keysFile).trim().replaceAll(root.folder, join(folder, 'mac')).split('\n');
    sshd = await startSshd({ userKeys });
  });
  afterAll(async () => {
    await sshd?.stop();
    for (const server of servers) server.close();
    root?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  function ssh(words: readonly string[], command: readonly string[] = []): ChildProcess {
    const options = ['BatchMode=yes', 'IdentitiesOnly=yes', 'StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null'];
    const all = [...options, 'ExitOnForwardFailure=yes', 'LogLevel=ERROR'].flatMap((one) => ['-o', one]);
    const to = ['-p', String(sshd.port), `${sshd.user}@127.0.0.1`];
    return spawn('ssh', ['-F', '/dev/null', '-i', join(folder, 'key'), ...all, ...words, ...to, ...command]);
  }
  async function ended(child: ChildProcess, input = ''): Promise<readonly [string, string, number | null]> {
    reached.length = 0;
    child.stdin?.end(input);
    const [out, errors, [code]] = await Promise.all([
      text(child.stdout as NodeJS.ReadableStream),
      text(child.stderr as NodeJS.ReadableStream),
      once(child, 'close'),
    ]);
    return [out, errors, code as number | null];
  }

  it.each([['id'], ['/usr/bin/false'], ['']])(
    'reaches only the program that serves the model, whatever the client requests: %j',
    async (command) => {
      const [out] = await ended(ssh(['-T'], command === '' ? [] : [command]), 'bytes\n');
      expect([out, reached]).toEqual(['hello\nbytes\n', ['program']]);
    },
  );

  it('gets no terminal', async () => {
    const [, errors] = await ended(ssh(['-tt'], ['id']), 'bytes\n');
    expect(errors).toContain('PTY allocation request failed');
  });

  it('allows no forwarding to another port of the Mac, or back to the client', async () => {
    const other = portOf(servers[1] as Server);
    const [out, , code] = await ended(ssh(['-W', `127.0.0.1:${other}`]));
    expect([out, code === 0, reached.includes('other')]).toEqual(['', false, false]);
    const [, errors, backward] = await ended(ssh(['-N', '-R', `0:127.0.0.1:${other}`]));
    expect([errors, backward]).toEqual([expect.stringContaining('remote port forwarding failed'), 255]);
  });

  it('allows no forwarding to a socket on the Mac', async () => {
    const local = join(folder, 'local.sock');
    const child = ssh(['-N', '-L', `${local}:${socket}`]);
    const end = once(child, 'close');
    const answer = await new Promise<string>((resolve) => {
      const tries = setInterval(() => {
        const client = connect(local);
        client.once('error', () => undefined);
        client.once('connect', () => {
          clearInterval(tries);
          void text(client).then(resolve, () => resolve('cut'));
        });
      }, 50);
    });
    child.kill();
    await end;
    expect([['', 'cut'].includes(answer), reached.includes('socket')]).toEqual([true, false]);
  });
});
