import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { nodeSubject } from '../../src/model/subject.ts';
import { connect, fetchHostKey } from '../../src/remote/connect.ts';
import { trustFor } from '../../src/remote/keys/host-key-trust.ts';
import { listening } from '../rack/listening.ts';
import type { Faults } from '../sshd/fault-server.ts';
import { connectLimits, execLimits, rejectionCode } from '../sshd/ssh-case.ts';
import { type KeyPair, makeKey } from '../sshd/start-sshd.ts';
import { makeFaultCase } from './fault-case.ts';
import { rejection } from './ssh-rejection.ts';

const ssh = makeFaultCase();
const other = makeKey(ssh.folder, 'other');
/** A private key with the public half of a different key, which an attacker can show but not sign with. */
function claiming(privateKey: string, claimed: KeyPair): string {
  const halfOf = (pair: KeyPair): Buffer => Buffer.from(pair.base64, 'base64').subarray(-32);
  const file = Buffer.from(privateKey.replace(/-----.*-----/gu, ''), 'base64').toString('latin1');
  const forged = file.replaceAll(halfOf(ssh.host.pair).toString('latin1'), () => halfOf(claimed).toString('latin1'));
  const base64 = Buffer.from(forged, 'latin1').toString('base64').replace(/.{70}/gu, '$&\n');
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${base64}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

const says =
  (text: string) =>
  (socket: Socket): void => {
    socket.end(text);
  };

/** The result of a connection if this much time passes after the server reached a point. */
async function lateAfter(
  faults: (reached: () => void) => Faults,
  { firstByteMs, passesMs = connectLimits.deadlineMs }: { firstByteMs?: number; passesMs?: number } = {},
): ReturnType<typeof rejection> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    let reached = (): void => undefined;
    const atPoint = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const server = await ssh.start(faults(reached));
    const problem = rejection(ssh.connect(server.port, firstByteMs === undefined ? {} : { firstByteMs }));
    await atPoint;
    vi.advanceTimersByTime(passesMs);
    return await problem;
  } finally {
    vi.useRealTimers();
  }
}

describe('a connection to a faulty node', () => {
  it('is refused when nothing listens', async () => {
    const server = createServer();
    const port = await listening(server);
    await new Promise<void>((resolve) => server.close(() => resolve()));
    expect(await rejectionCode(ssh.connect(port))).toBe('ssh/refused');
  });

  it('fails with a diagnostic that names the host if the host name does not exist', async () => {
    const target = ssh.target(22, { host: 'no-such-mac.invalid' });
    const problem = await rejection(connect(target, trustFor(target, { knownHosts: [] }), connectLimits));
    expect(problem).toMatchObject({ code: 'ssh/unreachable', subject: nodeSubject('studio-1') });
    expect(problem.detail).toContain('no-such-mac.invalid');
  });

  it('is refused before anything is sent if the host or user could be an option', async () => {
    for (const more of [{ host: '-oProxyCommand=x' }, { user: '-l' }, { host: 'a;b' }, { port: 0 }, { user: 'a\nb' }]) {
      const target = ssh.target(22, more);
      expect(await rejectionCode(connect(target, trustFor(target, { knownHosts: [] }), connectLimits))).toBe(
        'ssh/bad-address',
      );
    }
  });

  it('times out if the node accepts it and sends nothing', async () => {
    const problem = await lateAfter((reached) => ({ onSocket: (socket) => socket.once('data', reached) }));
    expect(problem.code).toBe('ssh/timed-out');
    expect(problem.detail).toContain('identification');
  });

  it('times out if the node goes silent during key exchange', async () => {
    const problem = await lateAfter((reached) => ({
      onSocket: (socket) => {
        let heard = '';
        socket.write('SSH-2.0-quiet\r\n');
        // The client's part of the key exchange follows its first line.
        socket.on('data', (bytes) => {
          heard += bytes.toString('latin1');
          if (/\n./su.test(heard)) reached();
        });
      },
    }));
    expect(problem.code).toBe('ssh/timed-out');
    expect(problem.detail).toContain('key exchange');
  });

  it('times out if the node goes silent during login', async () => {
    const problem = await lateAfter((reached) => ({ onAuth: reached }));
    expect(problem.code).toBe('ssh/timed-out');
    expect(problem.detail).toContain('authentication');
  });

  it('fails early if the first byte has a separate deadline', async () => {
    const limits = { firstByteMs: 4_000, passesMs: 4_000 };
    expect((await lateAfter((onSocket) => ({ onSocket }), limits)).detail).toMatch(/(?:within|after) 4 s/);
  });

  it('still gets its whole deadline after the first byte', async () => {
    const problem = await lateAfter((reached) => ({ onAuth: reached }), { firstByteMs: 1 });
    expect(problem.detail).toContain('stopped responding during authentication; meshwright gave up after 20 s');
  });

  it('ends immediately when the run is interrupted', async () => {
    const server = await ssh.start({ onSocket: () => undefined });
    const controller = new AbortController();
    const trying = rejectionCode(ssh.connect(server.port, { signal: controller.signal }));
    while (server.counts.connections === 0) await sleep(5);
    controller.abort();
    expect(await trying).toBe('ssh/dropped');
    expect(await rejectionCode(ssh.connect(server.port, { signal: AbortSignal.abort() }))).toBe('ssh/unreachable');
  });

  it('is dropped if the node closes before, during and after key exchange', async () => {
    const before = await ssh.start({ onSocket: (socket) => socket.destroy() });
    const within = await ssh.start({
      onSocket: (socket) => {
        socket.write('SSH-2.0-short\r\n');
        socket.once('data', () => socket.destroy());
      },
    });
    const sockets: Socket[] = [];
    const after = await ssh.start({
      onSocket: (socket, speakSsh) => {
        sockets.push(socket);
        speakSsh();
      },
      onAuth: () => {
        for (const socket of sockets) socket.destroy();
      },
    });
    expect(await rejectionCode(ssh.connect(before.port))).toBe('ssh/dropped');
    expect(await rejectionCode(ssh.connect(within.port))).toBe('ssh/dropped');
    expect(await rejectionCode(ssh.connect(after.port))).toBe('ssh/dropped');
  });

  it('reports that no SSH server answers, and escapes any other greeting', async () => {
    const server = await ssh.start({ onSocket: says('HTTP/1.1 400 Bad\u001b[31m Request\r\n\r\n') });
    const problem = await rejection(ssh.connect(server.port));
    expect(problem.code).toBe('ssh/not-ssh');
    expect(problem.detail).toContain('HTTP/1.1 400 Bad\\x1b[31m');
    expect(problem.detail).not.toContain('\u001b');
  });

  it('reports that no SSH server answers if the greeting line is endless', async () => {
    const flood = (socket: Socket): void => {
      const more = (): void => {
        if (!socket.destroyed) socket.write(Buffer.alloc(65_536, 'x'), () => setImmediate(more));
      };
      more();
    };
    const server = await ssh.start({ onSocket: flood });
    expect(await rejectionCode(ssh.connect(server.port))).toBe('ssh/not-ssh');
  });

  it.each(['Exceeded MaxStartups\r\n', 'Not allowed at this time\r\n'])(
    'counts as refused for too many connections if the node prints %j',
    async (text) => {
      const server = await ssh.start({ onSocket: says(text) });
      const problem = await rejection(ssh.connect(server.port));
      expect(problem.code).toBe('ssh/too-many-connections');
      expect(problem.detail).toContain(text.trim());
    },
  );

  it("fails if the node has only broken algorithms, and names both sides' algorithms", async () => {
    const server = await ssh.start({ algorithms: { kex: ['diffie-hellman-group14-sha1'] } });
    const problem = await rejection(ssh.connect(server.port));
    expect(problem.code).toBe('ssh/no-common-algorithm');
    expect(problem.detail).toContain('diffie-hellman-group14-sha1');
    expect(problem.detail).toContain('curve25519-sha256');
  });

  it.each([
    ['cipher', { cipher: ['aes256-cbc'] }],
    ['cipher', { cipher: ['chacha20-poly1305@openssh.com'] }],
    ['MAC', { cipher: ['aes128-ctr'], hmac: ['hmac-sha1'] }],
  ] as const)('fails without a common %s if the node offers only %j', async (kind, lists) => {
    const server = await ssh.start({
      algorithms: Object.fromEntries(Object.entries(lists).map(([key, list]) => [key, [...list]])),
    });
    const problem = await rejection(ssh.connect(server.port));
    expect(problem).toMatchObject({ code: 'ssh/no-common-algorithm' });
    expect(problem.detail).toContain(`No common ${kind}`);
  });
});

describe("a node's host key", () => {
  it('is checked before any login is tried', async () => {
    const server = await ssh.start({});
    const target = ssh.target(server.port);
    const unknown = await rejection(connect(target, trustFor(target, { knownHosts: [] }), connectLimits));
    expect(unknown).toMatchObject({ code: 'ssh/host-key-unknown' });
    expect(unknown.hint).toContain('meshwright enroll studio-1');
    const changed = await rejection(connect(target, ssh.trust(server.port, other), connectLimits));
    expect(changed.code).toBe('ssh/host-key-changed');
    expect(changed.detail).toContain('known_hosts:1');
    expect(changed.detail.match(/SHA256:[A-Za-z0-9+/]{43}/gu)).toHaveLength(2);
    expect(changed.hint).toContain('meshwright enroll studio-1 --replace');
    expect(changed.hint.split('\n').slice(-2)).toEqual([
      'If a different Mac now has this place:',
      '  meshwright replace studio-1',
    ]);
    expect(server.logins).toEqual([]);
  });

  it('is not accepted from a server that signs with a different key, and no login is tried', async () => {
    const server = await ssh.start({}, { privateKey: claiming(ssh.host.privateKey, other), pair: other });
    const problem = await rejection(connect(ssh.target(server.port), ssh.trust(server.port, other), connectLimits));
    expect(problem).toMatchObject({ code: 'ssh/host-key-unproven', subject: nodeSubject('studio-1') });
    expect(problem.hint).not.toContain('again');
    expect(server.logins).toEqual([]);
  });

  it('is fetched without a login, for a person to compare', async () => {
    const server = await ssh.start({});
    const key = await fetchHostKey(ssh.target(server.port), connectLimits);
    expect(key).toMatchObject({ type: ssh.host.pair.type, base64: ssh.host.pair.base64 });
    expect(key.fingerprint).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/u);
    expect(server.logins).toEqual([]);
  });

  it('is not checked against the keys trusted for a different address', async () => {
    await expect(connect(ssh.target(1), ssh.trust(2), connectLimits)).rejects.toThrow('trust of [127.0.0.1]:2');
  });
});

describe('a login with a key', () => {
  const banner = readFileSync(new URL('../sshd/filevault-banner.txt', import.meta.url), 'utf8');

  it('tries only public keys, each once, without asking for methods first', async () => {
    const { server, remote } = await ssh.connected({});
    remote.close();
    expect(server.logins).toEqual(['publickey', 'publickey:signed']);
  });

  it("fails with the offered keys' names, after one attempt each", async () => {
    const server = await ssh.start({ onAuth: (context) => context.reject(['publickey', 'password']) });
    const problem = await rejection(ssh.connect(server.port));
    expect(problem.code).toBe('ssh/authentication-failed');
    expect(problem.detail).toContain(`${ssh.user.file} (ssh-ed25519 SHA256:`);
    expect(server.logins).toEqual(['publickey']);
    expect(server.counts.connections).toBe(1);
  });

  it('offers at most five keys and reports how many were left out', async () => {
    const files = Array.from({ length: 7 }, (_, index) => makeKey(ssh.folder, `many-${index}`).file);
    const server = await ssh.start({ onAuth: (context) => context.reject(['publickey']) });
    const target = ssh.target(server.port, { identityFiles: files });
    const problem = await rejection(connect(target, ssh.trust(server.port), connectLimits));
    expect(server.logins).toHaveLength(5);
    expect(problem.detail).toContain('2 more keys were not tried');
  });

  it('does not send a password to a Mac that is locked at FileVault', async () => {
    const server = await ssh.start({
      banner,
      onAuth: (context) => context.reject(['password', 'keyboard-interactive']),
    });
    const problem = await rejection(ssh.connect(server.port));
    expect(problem.code).toBe('ssh/locked-at-filevault');
    expect(server.logins).toEqual(['publickey']);
  });

  it('reports which further method a node requires after the key', async () => {
    const server = await ssh.start({ onAuth: (context) => context.reject(['keyboard-interactive'], true) });
    const problem = await rejection(ssh.connect(server.port));
    expect(problem.code).toBe('ssh/authentication-failed');
    expect(problem.detail).toContain('keyboard-interactive');
  });

  it('leaves the connection usable for commands, and does not forward agents, ports or variables', async () => {
    const { server, remote } = await ssh.connected({});
    expect((await remote.exec('true', execLimits)).exit).toEqual({ kind: 'exited', code: 0 });
    remote.close();
    expect([server.commands, server.extras]).toEqual([['true'], []]);
  });
});
