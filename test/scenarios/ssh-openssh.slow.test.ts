import { createHash } from 'node:crypto';
import { connect as connectTcp, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { readHostKey } from '../../src/apply/unlock-node.ts';
import { connect } from '../../src/remote/connect.ts';
import { trustFor } from '../../src/remote/keys/host-key-trust.ts';
import type { Remote } from '../../src/remote/remote.ts';
import { connectLimits, execLimits, makeSshCase, textOf } from '../sshd/ssh-case.ts';
import { hasSshd, makeKey, type Sshd, type SshdOptions, startSshd } from '../sshd/start-sshd.ts';
import { rejection } from './ssh-rejection.ts';

const ssh = makeSshCase(userInfo().username);
const servers: Sshd[] = [];
const remotes: Remote[] = [];

async function start(options: Partial<SshdOptions> = {}): Promise<Sshd> {
  const server = await startSshd({ userKeys: [ssh.user.publicLine], hostKeys: [ssh.host.pair], ...options });
  servers.push(server);
  return server;
}

async function open(server: Sshd): Promise<Remote> {
  const remote = await ssh.connect(server.port);
  remotes.push(remote);
  return remote;
}

/**
 * Takes the only slot of a server with MaxStartups 1. The probe that waited for the server may still occupy the slot
 * for a moment.
 */
async function holdLogin(port: number): Promise<Socket> {
  for (;;) {
    const socket = connectTcp(port, '127.0.0.1');
    const first = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())));
    if (first.startsWith('SSH-')) return socket;
    socket.destroy();
  }
}

afterEach(async () => {
  for (const remote of remotes.splice(0)) remote.close();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});
afterAll(() => ssh.remove());

describe.runIf(hasSshd())('a connection to OpenSSH', () => {
  it('logs in with an Ed25519, an ECDSA and an RSA key', async () => {
    const keys = [
      makeKey(ssh.folder, 'e'),
      makeKey(ssh.folder, 'c', 'ecdsa'),
      makeKey(ssh.folder, 'r', 'rsa', ['-b', '2048']),
    ];
    const server = await start({ userKeys: keys.map((key) => key.publicLine) });
    for (const key of keys) {
      const target = ssh.target(server.port, { identityFiles: [key.file] });
      const remote = await connect(target, ssh.trust(server.port), connectLimits);
      remotes.push(remote);
      expect((await remote.exec('exit 7', execLimits)).exit).toEqual({ kind: 'exited', code: 7 });
    }
  });

  it("uses a separate home folder, so none of the tester's rc files are read", async () => {
    const remote = await open(await start());
    const home = await remote.exec('printf %s "$HOME"; ls -A "$HOME"', execLimits);
    expect(textOf(home.stdout)).toMatch(/meshwright-sshd-\w+authorized_keys/);
  });

  it('asks for the ECDSA host key if only that key is known', async () => {
    const hostKeys = [
      ssh.host.pair,
      makeKey(ssh.folder, 'host-c', 'ecdsa'),
      makeKey(ssh.folder, 'host-r', 'rsa', ['-b', '2048']),
    ];
    const server = await start({ hostKeys });
    for (const known of hostKeys) {
      const remote = await connect(ssh.target(server.port), ssh.trust(server.port, known), connectLimits);
      remotes.push(remote);
      expect((await remote.exec('exit 0', execLimits)).exit).toEqual({ kind: 'exited', code: 0 });
      const way = { kind: 'way', target: ssh.target(server.port), trust: ssh.trust(server.port, known) } as const;
      expect(await readHostKey(way, connectLimits)).toMatchObject({
        key: { type: known.type },
        verdict: { kind: 'accepted' },
      });
    }
  });

  it('trusts a pin in cluster.lock over known_hosts, and names the line of a conflicting pin', async () => {
    const other = makeKey(ssh.folder, 'host-other');
    const server = await start();
    const address = `[127.0.0.1]:${server.port}`;
    const sources = (pinned: typeof other, known: typeof other) => ({
      knownHosts: [{ file: 'known_hosts', text: `${address} ${known.publicLine}\n` }],
      lock: { file: 'cluster.lock', hostKeys: { [address]: [{ type: pinned.type, base64: pinned.base64, line: 14 }] } },
    });
    const target = ssh.target(server.port);
    const remote = await connect(target, trustFor(target, sources(ssh.host.pair, other)), connectLimits);
    remotes.push(remote);
    const problem = await rejection(connect(target, trustFor(target, sources(other, ssh.host.pair)), connectLimits));
    expect(problem).toMatchObject({ code: 'ssh/host-key-changed' });
    expect(problem.detail).toContain('cluster.lock:14');
  });

  it('fails the login without a second try if the key is not authorized', async () => {
    const server = await start({ userKeys: [], config: ['PasswordAuthentication yes'] });
    const problem = await rejection(ssh.connect(server.port));
    expect(problem.code).toBe('ssh/authentication-failed');
    expect(problem.detail).toContain(ssh.user.file);
    expect(server.log()).not.toContain('method password');
    expect(server.log().match(/userauth-request for user .* method publickey/gu)).toHaveLength(1);
  });

  it('is rejected with a reason once MaxStartups is reached', async () => {
    const server = await start({ config: ['MaxStartups 1'] });
    const first = await holdLogin(server.port);
    const problem = await rejection(ssh.connect(server.port));
    first.destroy();
    expect(problem.code).toBe('ssh/too-many-connections');
  });

  it('names the algorithms of a server that offers only post-quantum key exchange', async () => {
    const server = await start({ config: ['KexAlgorithms sntrup761x25519-sha512@openssh.com'] });
    const problem = await rejection(ssh.connect(server.port));
    expect(problem.code).toBe('ssh/no-common-algorithm');
    expect(problem.detail).toContain('the node offers sntrup761x25519-sha512@openssh.com');
  });

  it('never signs with SHA-1, even for a server that accepts nothing else', async () => {
    const rsa = makeKey(ssh.folder, 'rsa-only', 'rsa', ['-b', '2048']);
    const server = await start({ userKeys: [rsa.publicLine], config: ['PubkeyAcceptedAlgorithms ssh-rsa'] });
    const target = ssh.target(server.port, { identityFiles: [rsa.file] });
    const problem = await rejection(connect(target, ssh.trust(server.port), connectLimits));
    expect(problem.code).toBe('ssh/authentication-failed');
    expect(server.log()).not.toContain('Accepted publickey');
  });
});

describe.runIf(hasSshd())('a command over OpenSSH', () => {
  it('ends with its own exit status, including 255 and signals', async () => {
    const remote = await open(await start());
    const exits = await Promise.all(
      ['exit 0', 'exit 255', 'kill -9 $$', 'kill -TERM $$'].map((one) => remote.exec(one, execLimits)),
    );
    expect(exits.map(({ exit }) => exit)).toEqual([
      { kind: 'exited', code: 0 },
      { kind: 'exited', code: 255 },
      { kind: 'signalled', signal: 'KILL' },
      { kind: 'signalled', signal: 'TERM' },
    ]);
  });

  it('gets its input byte for byte, including the end of input', async () => {
    const remote = await open(await start());
    const stdin = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256));
    const { stdout, exit } = await remote.exec('cat', { ...execLimits, stdin });
    expect(exit).toEqual({ kind: 'exited', code: 0 });
    expect(Buffer.compare(stdout, stdin)).toBe(0);
    expect(textOf((await remote.exec('cat; echo end', execLimits)).stdout)).toBe('end\n');
  });

  it('does not hang on 8 MB of stderr with unread input', async () => {
    const remote = await open(await start());
    const command = 'head -c 8000000 /dev/zero >&2; exit 4';
    const limits = { name: 'test', deadlineMs: 60_000, maxBytes: 9_000_000, stdin: Buffer.alloc(4_000_000) };
    const { exit, stderr } = await remote.exec(command, limits);
    expect(exit).toEqual({ kind: 'exited', code: 4 });
    expect(stderr).toHaveLength(8_000_000);
  });

  it('survives many key exchanges in one transfer', async () => {
    const server = await start({ config: ['RekeyLimit 1M'] });
    const remote = await open(server);
    const bytes = 24 * 1024 * 1024;
    const result = await remote.exec(`head -c ${bytes} /dev/zero`, {
      name: 'test',
      deadlineMs: 60_000,
      maxBytes: bytes,
    });
    expect(result.exit).toEqual({ kind: 'exited', code: 0 });
    const digest = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');
    expect(digest(result.stdout)).toBe(digest(Buffer.alloc(bytes)));
    expect(server.log().match(/rekey/giu)?.length ?? 0).toBeGreaterThan(10);
  });

  it('is stopped if its output is endless, without growing memory use or closing the connection', async () => {
    const remote = await open(await start());
    const before = process.memoryUsage().rss;
    const result = await remote.exec('yes "a line without end" | head -c 10000000000', {
      name: 'test',
      deadlineMs: 60_000,
      maxBytes: 1_000_000,
    });
    expect(result).toMatchObject({ isTruncated: true, exit: { kind: 'unknown' } });
    expect(result.stdout).toHaveLength(1_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
    expect((await remote.exec('exit 0', execLimits)).exit).toEqual({ kind: 'exited', code: 0 });
  });

  it('waits its turn if eight channels are in use', async () => {
    const remote = await open(await start());
    const all = await Promise.all(Array.from({ length: 11 }, (_, index) => remote.exec(`echo ${index}`, execLimits)));
    expect(all.map(({ stdout }) => textOf(stdout).trim())).toEqual(
      Array.from({ length: 11 }, (_, index) => String(index)),
    );
  });

  it('is retried if the server allows fewer channels, but runs only once', async () => {
    const remote = await open(await start({ config: ['MaxSessions 2'] }));
    const file = `${ssh.folder}/ran`;
    const all = await Promise.all(
      Array.from({ length: 9 }, (_, index) => remote.exec(`echo ${index} >>'${file}'`, execLimits)),
    );
    expect(all.map(({ exit }) => exit)).toEqual(Array.from({ length: 9 }, () => ({ kind: 'exited', code: 0 })));
    const { stdout } = await remote.exec(`sort -n '${file}'`, execLimits);
    expect(textOf(stdout)).toBe('0\n1\n2\n3\n4\n5\n6\n7\n8\n');
  });

  it('does not run if a server allows no channel', async () => {
    const remote = await open(await start({ config: ['MaxSessions 0'] }));
    const { exit } = await remote.exec('true', execLimits);
    expect(exit).toEqual({ kind: 'unknown', why: 'no-channel', reason: 'the node refused to run a command' });
  });
});
