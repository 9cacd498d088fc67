import { createServer } from 'node:net';
import type { AuthContext } from 'ssh2';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FleetError } from '../../../src/diagnostics/diagnostic.ts';
import { concealed } from '../../../src/model/secret.ts';
import { connect, fetchHostKey } from '../../../src/remote/connect.ts';
import { trustFor } from '../../../src/remote/keys/host-key-trust.ts';
import { connectWithPassword, seeWhetherLocked, unlockWithPassword } from '../../../src/remote/keys/password-login.ts';
import type { ConnectLimits, Target } from '../../../src/remote/remote.ts';
import { type FaultServer, type Faults, startFaultServer } from '../../sshd/fault-server.ts';
import { makeSshCase } from '../../sshd/ssh-case.ts';
import { jsonText, onOnePage, say } from '../one-page.ts';
import { edKey } from './wire.ts';

const ssh = makeSshCase('mesh');
const limits: ConnectLimits = { deadlineMs: 20_000 };
const servers: FaultServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});
afterAll(() => ssh.remove());

async function start(faults: Faults = {}): Promise<FaultServer> {
  const server = await startFaultServer(ssh.host, faults);
  servers.push(server);
  return server;
}

/** After reading the node's greeting, a client sends its greeting and its list of algorithms: more bytes than this. */
const afterGreeting = 200;

/** Prints a value on the page, with names in place of values that differ between runs. */
function printed(value: unknown, port = 65_536): unknown {
  const text = (jsonText(value) ?? 'undefined')
    .replaceAll(ssh.folder, 'FOLDER')
    .replaceAll(`${port}`, 'PORT')
    .replaceAll(/SHA256:[\w+/]{43}/g, 'FINGERPRINT');
  say(text);
  return JSON.parse(text === 'undefined' ? 'null' : text);
}

/** Returns the codes of a rejection's diagnostics, and prints the diagnostics on the page. */
async function codes(promise: Promise<unknown>, port?: number): Promise<readonly string[]> {
  try {
    await promise;
  } catch (error) {
    if (!(error instanceof FleetError)) return [String(error)];
    printed(error.diagnostics, port);
    return error.diagnostics.map(({ code }) => code);
  }
  return ['connected'];
}

const other = { ...ssh.host.pair, publicLine: `ssh-ed25519 ${edKey(1).toString('base64')}` };

describe('a connection with a key', () => {
  const to = (server: { readonly port: number }, more: Partial<Target> = {}, at: Partial<ConnectLimits> = {}) =>
    connect(ssh.target(server.port, more), ssh.trust(server.port), { ...limits, ...at });

  it('is open once the node accepts a key', async () => {
    const server = await start();
    const remote = await to(server, { rootPrefix: '/sim' });
    remote.close();
    expect([remote.rootPrefix, server.logins]).toEqual(['/sim', ['publickey', 'publickey:signed']]);
    expect(remote.connectMs).toBeGreaterThan(0);
  });

  it("is not attempted without a key, with an invalid address, or with another node's trust", async () => {
    const server = await start();
    expect(await codes(to(server, { identityFiles: [] }), server.port)).toEqual(['ssh/no-key']);
    const missing = ['one', 'two'].map((name) => `${ssh.folder}/${name}`);
    expect(await codes(to(server, { identityFiles: missing }), server.port)).toEqual(Array(2).fill('ssh/key-unusable'));
    for (const bad of [{ host: '-x' }, { user: 'a b' }, { port: 0 }]) {
      expect(await codes(to(server, bad), server.port)).toEqual(['ssh/bad-address']);
    }
    expect(await codes(connect(ssh.target(22), ssh.trust(23), limits))).toEqual([
      'Error: trust of [127.0.0.1]:23 used for 127.0.0.1',
    ]);
    expect(server.counts.connections).toBe(0);
  });

  it('fails with one diagnostic per cause', async () => {
    const refusing = await start({ onAuth: (context) => context.reject(['password']) });
    expect(await codes(to(refusing), refusing.port)).toEqual(['ssh/authentication-failed']);
    const changed = connect(ssh.target(refusing.port), ssh.trust(refusing.port, other), limits);
    expect(await codes(changed, refusing.port)).toEqual(['ssh/host-key-changed']);
    const closing = await start({ onSocket: (socket) => socket.end('220 mail\r\n') });
    expect(await codes(to(closing), closing.port)).toEqual(['ssh/not-ssh']);
    const over = await start();
    expect(await codes(to(over, {}, { signal: AbortSignal.abort() }), over.port)).toEqual(['ssh/unreachable']);
    const nothing = createServer();
    await new Promise<void>((resolve) => nothing.listen(0, '127.0.0.1', resolve));
    const { port } = nothing.address() as { readonly port: number };
    nothing.close();
    expect(await codes(to({ port }), port)).toEqual(['ssh/refused']);
  });

  it('resolves names with the given lookup', async () => {
    const server = await start();
    const named = async (lookUp: ConnectLimits['lookUp']) => {
      const target = ssh.target(server.port, { host: 'mac.lan' });
      const text = `[mac.lan]:${server.port} ${ssh.host.pair.publicLine}\n`;
      const trust = trustFor(target, { knownHosts: [{ file: 'known_hosts', text }] });
      return codes(
        connect(target, trust, { ...limits, ...(lookUp && { lookUp }) }).then((remote) => remote.close()),
        server.port,
      );
    };
    const address = { address: '127.0.0.1', family: 4 };
    expect(await named(async () => [address])).toEqual(['connected']);
    expect(await named(async () => [])).toEqual(['ssh/unreachable']);
    const error = Object.assign(new Error('x'), { code: 'EAI_AGAIN' });
    expect(await named(() => Promise.reject(error))).toEqual(['ssh/unreachable']);
  });

  it.each([
    ['', { firstByteMs: 500 }, 500],
    ['', { firstByteMs: 30_000 }, 20_000],
    ['', {}, 20_000],
    ['SSH-2.0-x\r\n', { firstByteMs: 500 }, 20_000],
  ])('times out if the node sends only %j, with %j', async (greeting, more, passesMs) => {
    let heard = 0;
    const server = await start({
      onSocket: (socket) => {
        socket.on('data', ({ length }) => {
          heard += length;
        });
        if (greeting !== '') socket.write(greeting);
      },
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const failed = codes(to(server, {}, more), server.port);
      const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
      while (heard < (greeting === '' ? 1 : afterGreeting)) await nextTurn();
      vi.advanceTimersByTime(passesMs - 1);
      let isOver = false;
      void failed.then(() => {
        isOver = true;
      });
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      expect(isOver).toBe(false);
      vi.advanceTimersByTime(1);
      expect(await failed).toEqual(['ssh/timed-out']);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("a connection's deadline", () => {
  const turns = async (count = 20): Promise<void> => {
    for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Connects to a name; `passes` returns whether the attempt is over after this many more milliseconds. */
  function begin(server: FaultServer, lookUp: NonNullable<ConnectLimits['lookUp']>) {
    const target = ssh.target(server.port, { host: 'mac.lan' });
    const text = `[mac.lan]:${server.port} ${ssh.host.pair.publicLine}\n`;
    const remote = connect(target, trustFor(target, { knownHosts: [{ file: 'k', text }] }), { ...limits, lookUp });
    let isOver = false;
    const failed = codes(remote, server.port).then((all) => {
      isOver = true;
      return all;
    });
    const passes = async (ms: number): Promise<boolean> => {
      vi.advanceTimersByTime(ms);
      await turns();
      return isOver;
    };
    return { failed, passes, remote };
  }
  const address = { address: '127.0.0.1', family: 4 };

  it('applies once to the name lookup and once more to the node, even after its greeting', async () => {
    let asked = 0;
    const never = begin(await start(), () => {
      asked += 1;
      return new Promise(() => undefined);
    });
    while (asked === 0) await turns(1);
    expect([await never.passes(19_999), await never.passes(1)]).toEqual([false, true]);
    expect(await never.failed).toEqual(['ssh/unreachable']);
    let found: (() => void) | undefined;
    let heard = 0;
    const server = await start({
      onSocket: (socket) => {
        socket.on('data', ({ length }) => {
          heard += length;
        });
        socket.write('SSH-2.0-x\r\n');
      },
    });
    const slow = begin(
      server,
      () =>
        new Promise((resolve) => {
          found = () => resolve([address]);
        }),
    );
    while (found === undefined) await turns(1);
    expect(await slow.passes(15_000)).toBe(false);
    found();
    while (heard < afterGreeting) await turns(1);
    expect(await slow.passes(14_000)).toBe(false);
    expect([await slow.passes(5_999), await slow.passes(1)]).toEqual([false, true]);
    expect(await slow.failed).toEqual(['ssh/timed-out']);
  });

  it('starts with the attempt, which tries every address of a name', async () => {
    vi.advanceTimersByTime(1_000);
    const { remote } = begin(await start(), async () => [{ address: '::1', family: 6 }, address]);
    const { connectMs } = await remote;
    (await remote).close();
    expect(connectMs).toBe(0);
  });
});

describe("a node's host key", () => {
  it('is fetched without a login, and only for the requested types', async () => {
    const server = await start();
    const { type, base64 } = ssh.host.pair;
    const fetched = await fetchHostKey(ssh.target(server.port), limits);
    expect(fetched).toEqual({ type, base64, fingerprint: expect.stringMatching(/^SHA256:/) });
    expect(server.logins).toEqual([]);
    const none = fetchHostKey(ssh.target(server.port), limits, ['rsa-sha2-512']);
    expect(await codes(none, server.port)).toEqual(['ssh/no-common-algorithm']);
    expect(await codes(fetchHostKey(ssh.target(server.port, { user: '' }), limits), server.port)).toEqual([
      'ssh/bad-address',
    ]);
  });
});

describe('a login with a password', () => {
  const locked = 'This system is locked. To unlock it, use a local account name and password.';
  const passwords: string[] = [];
  afterEach(() => void passwords.splice(0));

  /** A server that accepts the password `right`, and offers these methods. */
  const takes = (methods: readonly string[], faults: Faults = {}): Promise<FaultServer> =>
    start({
      onAuth: (context: AuthContext) => {
        if (context.method !== 'password') return context.reject([...methods] as never);
        passwords.push(context.password);
        if (context.password === 'right') context.accept();
        else
          context.reject((context.password === 'half' ? ['publickey'] : methods) as never, context.password === 'half');
      },
      ...faults,
    });
  const login = ({ port }: FaultServer, password = 'right', key = ssh.host.pair) => ({
    target: ssh.target(port),
    trust: ssh.trust(port, key),
    password: concealed(password),
  });
  const enter = (server: FaultServer, password?: string) =>
    codes(
      connectWithPassword(login(server, password), limits).then((remote) => remote.close()),
      server.port,
    );
  const unlock = async (server: FaultServer, password?: string, key = ssh.host.pair) => {
    const answer = await unlockWithPassword(login(server, password, key), limits);
    return (printed(answer, server.port) as { readonly kind: string }).kind;
  };

  it('connects, or reports why it cannot', async () => {
    const server = await takes(['password']);
    expect(await enter(server)).toEqual(['connected']);
    for (const wrong of ['wrong', 'half']) expect(await enter(server, wrong)).toEqual(['ssh/password-refused']);
    expect(passwords).toEqual(['right', 'wrong', 'half']);
    for (const methods of [['publickey'], ['publickey', 'hostbased']]) {
      expect(await enter(await takes(methods))).toEqual(['ssh/no-password-login']);
    }
    expect(await enter(await takes(['password'], { banner: locked }))).toEqual(['ssh/locked-at-filevault']);
    const asking: Faults = {
      onAuth: (context) => {
        if (context.method === 'keyboard-interactive')
          context.prompt([{ prompt: 'Code:', echo: true }], () => undefined);
        else context.reject(['keyboard-interactive']);
      },
    };
    expect(await enter(await start(asking))).toEqual(['ssh/strange-prompt']);
    expect(await enter(await start({ onSocket: (socket) => socket.destroy() }))).toEqual(['ssh/dropped']);
    expect(passwords).toHaveLength(3);
    const mixed = { ...login(server), trust: ssh.trust(23) };
    expect(await codes(connectWithPassword(mixed, limits), server.port)).toEqual([
      `Error: trust of [127.0.0.1]:23 used for [127.0.0.1]:${server.port}`,
    ]);
    const nowhere = { ...login(server), target: ssh.target(server.port, { host: '-x' }) };
    expect(await codes(connectWithPassword(nowhere, limits), server.port)).toEqual(['ssh/bad-address']);
  });

  it('unlocks a Mac whose banner reports that it is locked', async () => {
    const saying = (text: string, isError = false): Faults => ({
      banner: locked,
      onShell: (channel) => {
        (isError ? channel.stderr : channel).write(text);
        channel.end();
      },
    });
    const unlocked = 'System successfully unlocked.';
    expect(await unlock(await takes(['password'], saying(unlocked)))).toBe('unlocked');
    expect(await unlock(await takes(['password'], saying(unlocked, true)))).toBe('unlocked');
    expect(await unlock(await takes(['password'], saying('Hello.')))).toBe('unheard');
    expect(await unlock(await takes(['password'], { banner: locked, onReady: (one) => one.destroy() }))).toBe(
      'unheard',
    );
    expect(passwords).toEqual(Array(4).fill('right'));
    expect(await unlock(await takes(['password'], { banner: locked }), 'wrong')).toBe('refused');
    const dropping: Faults = {
      banner: locked,
      onAuth: (context) => {
        if (context.method === 'password') passwords.push('dropped');
        if (context.method === 'none') context.reject(['password']);
        else for (const server of servers) void server.stop();
      },
    };
    expect(await unlock(await start(dropping))).toBe('unheard');
  });

  it('does not send a password to a Mac that is not locked or has a different host key', async () => {
    expect(await unlock(await takes(['password']))).toBe('not-locked');
    let shells = 0;
    const onShell = (): void => {
      shells += 1;
    };
    expect(await unlock(await start({ onAuth: (context) => context.accept(), onShell }))).toBe('not-locked');
    expect(shells).toBe(0);
    expect(await unlock(await takes(['password'], { banner: locked }), 'right', other)).toBe('unreached');
    expect(await unlock(await takes(['publickey'], { banner: locked }))).toBe('unreached');
    expect(await unlock(await start({ onSocket: (socket) => socket.end('220 mail\r\n') }))).toBe('unreached');
    expect(passwords).toEqual([]);
  });

  it('is not needed to detect a locked Mac', async () => {
    const see = async (server: FaultServer, key = ssh.host.pair) => {
      const { target, trust } = login(server, '', key);
      const state = await seeWhetherLocked({ target, trust }, limits);
      return [state.kind, (printed(state, server.port) as { readonly diagnostic?: { code: string } }).diagnostic?.code];
    };
    expect(await see(await takes(['password'], { banner: locked }))).toEqual(['locked', undefined]);
    expect(await see(await takes(['password']))).toEqual(['other', undefined]);
    expect(await see(await takes(['password'], { banner: locked }), other)).toEqual(['other', 'ssh/host-key-changed']);
    expect(passwords).toEqual([]);
  });
});

onOnePage('connect');
