import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { createKeyText } from '../../src/sim/hosts/ssh/host-keys.ts';
import { sharedFolder } from '../rack/kept-running.ts';
import {
  bareModel,
  connect,
  eventually,
  freshFolder,
  markedProcesses,
  openSsh,
  removeFolder,
  run,
} from '../rack/running.ts';

const folder = sharedFolder('mw test ');
let fleet: Fleet;
beforeAll(async () => {
  fleet = await startFleet({ folder, model: bareModel(['studio-1', 'studio-2']) });
});
afterAll(async () => {
  await fleet.stop();
});

const root = (node: string): string => fleet.nodes[node]?.root ?? '';
const isLinux = process.platform === 'linux';

describe('a simulated node reached by the ssh command', () => {
  it("runs a command in the user's home with a Mac's environment", async () => {
    const ran = await openSsh(fleet, 'studio-1', ['pwd; env']);
    const [home, ...rest] = ran.stdout.trim().split('\n');
    const names = rest
      .map((line) => line.split('=')[0])
      .filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name ?? ''));
    expect(home).toBe(`${root('studio-1')}/Users/mesh`);
    expect(rest).toContain(
      `PATH=${['/usr/bin', '/bin', '/usr/sbin', '/sbin'].map((one) => root('studio-1') + one).join(':')}`,
    );
    expect(names.sort()).toEqual(
      ['HOME', 'LOGNAME', 'MW_SIM', 'PATH', 'SHELL', 'SSH_CLIENT', 'SSH_CONNECTION', 'USER'].sort(),
    );
  });

  it('passes standard input to the command as a real pipe', async () => {
    const ran = await openSsh(
      fleet,
      'studio-1',
      ['cat; [ -p /dev/stdout ] && echo late >/dev/stderr'],
      'from the client\n',
    );
    expect(ran.stdout + ran.stderr).toBe('from the client\nlate\n');
  });

  it('refuses a terminal, a shell and a subsystem, and continues', async () => {
    const terminal = await openSsh(fleet, 'studio-1', ['-t', 'echo on']);
    const shell = await openSsh(fleet, 'studio-1', []);
    const subsystem = await openSsh(fleet, 'studio-1', ['-s', 'sftp']);
    expect([terminal.stdout, shell.code, subsystem.code]).toEqual(['on\n', 255, 255]);
  });

  it('accepts LANG and LC_ variables and no others', async () => {
    const ran = await openSsh(fleet, 'studio-1', [
      '-oSetEnv=LC_ALL=C LANG=de_DE.UTF-8 SECRET=x PATH=/tmp',
      'echo "$LC_ALL $LANG [$SECRET]"; cat </dev/null',
    ]);
    expect(ran).toEqual({ code: 0, signal: null, stdout: 'C de_DE.UTF-8 []\n', stderr: '' });
  });

  it('makes the client exit with 255 when a signal killed the command', async () => {
    expect((await openSsh(fleet, 'studio-1', ['kill -9 $$'])).code).toBe(255);
  });

  it('does not forward ports', async () => {
    const ran = await openSsh(fleet, 'studio-1', ['-W127.0.0.1:22']);
    expect(ran.code).toBe(255);
  });
});

describe('a simulated node reached from another node with a key for one command', () => {
  const { privateText, publicText } = createKeyText('');
  /** Runs studio-2's ssh to studio-1, whose line for the key has these options. */
  async function tunnel(line: string, { hostKey = fleet.nodes['studio-1']?.hostKey, less = '' } = {}) {
    const keys = `${root('studio-1')}/Users/mesh/.ssh/authorized_keys`;
    const before = await readFile(keys, 'utf8');
    await appendFile(keys, `${line} ${publicText} exchange\n`);
    await writeFile(`${root('studio-2')}/key`, privateText, { mode: 0o600 });
    await writeFile(`${root('studio-2')}/hosts`, `studio-1 ${hostKey}\n`);
    const options = [
      'BatchMode=yes IdentitiesOnly=yes StrictHostKeyChecking=yes UserKnownHostsFile=hosts LogLevel=ERROR',
      'GlobalKnownHostsFile=/dev/null HostKeyAlias=studio-1',
    ].flatMap((all) => all.split(' '));
    const words = options.filter((one) => one !== less).flatMap((one) => ['-o', one]);
    const own = ['-F', '/dev/null', '-T', '-i', 'key', '-c', 'aes128-gcm@openssh.com'];
    const to = ['-p', String(fleet.nodes['studio-1']?.port), '-l', 'mesh', '127.0.0.1', '/usr/bin/false'];
    const child = spawn(`${root('studio-2')}/usr/bin/ssh`, [...own, ...words, ...to], { cwd: root('studio-2') });
    child.stdin.on('error', () => undefined).end('from the client\n');
    const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    await writeFile(keys, before);
    return { code, stdout };
  }
  const only = 'restrict,command="cat; echo forced"';

  it('runs that command instead of the one that the client requests', async () => {
    expect(await tunnel(`${only},expiry-time="299912312359"`)).toMatchObject({
      code: 0,
      stdout: 'from the client\nforced\n',
    });
  });

  it.each([
    ['an expired line', `${only},expiry-time="202001010000"`, {}],
    ['options that are not simulated', 'command="cat"', {}],
    [
      'a host key that the client does not know',
      `${only},expiry-time="299912312359"`,
      { hostKey: createKeyText('').publicText },
    ],
  ])('refuses %s', async (_, line, more) => {
    expect((await tunnel(line, more)).code).toBe(255);
    expect((await fleet.unknown())['studio-2']).toEqual([]);
  });

  it("records a command line that omits one of the client's own checks", async () => {
    const less = 'StrictHostKeyChecking=yes';
    expect((await tunnel(`${only},expiry-time="299912312359"`, { less })).code).toBe(255);
    expect((await fleet.unknown())['studio-2']).toEqual([expect.stringContaining('/usr/bin/ssh')]);
  });
});

describe('a simulated node reached by an ssh2 client', () => {
  it('names the signal that killed a command', async () => {
    const client = await connect(fleet, 'studio-1');
    expect(await run(client, 'kill -TERM $$')).toMatchObject({ code: null, signal: 'SIGTERM' });
    client.end();
  });

  it("delivers the client's signal to the whole group", async () => {
    const client = await connect(fleet, 'studio-1');
    const ended = new Promise((resolve, reject) => {
      client.exec('echo up; sleep 60 & sleep 60', (error, channel) => {
        if (error) reject(error);
        channel.on('exit', (...exit: unknown[]) => resolve(exit.slice(0, 2)));
        channel.once('data', () => channel.signal('TERM'));
      });
    });
    expect(await ended).toEqual([null, 'SIGTERM']);
    client.end();
  });

  it('refuses the eleventh channel and accepts new ones later', async () => {
    const client = await connect(fleet, 'studio-2');
    const before = fleet.counts()['studio-2']?.channels ?? 0;
    const held = Array.from({ length: 10 }, () => run(client, 'cat', undefined));
    expect(await eventually(() => (fleet.counts()['studio-2']?.channels ?? 0) === before + 10)).toBe(true);
    await expect(run(client, 'true')).rejects.toMatchObject({ reason: 2 });
    client.end();
    await Promise.all(held);
    const next = await connect(fleet, 'studio-2');
    expect((await run(next, 'echo again')).stdout).toBe('again\n');
    next.end();
  });

  it('transfers large output on both streams unchanged', async () => {
    const client = await connect(fleet, 'studio-1');
    const script = 'i=0; while [ $i -lt 60000 ]; do printf "%0100d\\n" $i; printf "%0100d\\n" $i >&2; i=$((i+1)); done';
    const { stdout, stderr, code } = await run(client, script);
    const expected = Array.from({ length: 60_000 }, (_, index) => `${String(index).padStart(100, '0')}\n`).join('');
    expect([code, stdout === expected, stderr === expected]).toEqual([0, true, true]);
    client.end();
  });

  it('lets a silent command finish after its client is gone, and ends one that writes', async () => {
    const client = await connect(fleet, 'studio-1');
    const waiting = 'until [ -e "$HOME/go" ]; do sleep 0.05; done; echo done >"$HOME/finished"; echo';
    const silent = run(client, waiting).catch(() => undefined);
    const chatty = run(client, 'trap "" HUP; while :; do echo y; done').catch(() => undefined);
    expect(await eventually(() => fleet.groupCount() === 2)).toBe(true);
    client.end();
    await Promise.all([silent, chatty]);
    const next = await connect(fleet, 'studio-1');
    await run(next, ': >"$HOME/go"');
    expect(await eventually(() => fleet.groupCount() === 0)).toBe(true);
    expect((await run(next, 'cat "$HOME/finished"')).stdout).toBe('done\n');
    next.end();
    const chattyRecord = fleet.execs().find((one) => one.command.includes('echo y'));
    expect(chattyRecord?.exit).not.toMatchObject({ kind: 'exited', code: 0 });
  });
});

describe('login to a simulated node', () => {
  it("accepts only the run's key, for the node's user", async () => {
    const { createKeyText } = await import('../../src/sim/hosts/ssh/host-keys.ts');
    await expect(connect(fleet, 'studio-1', { privateKey: createKeyText('x').privateText })).rejects.toThrow(/auth/i);
    await expect(connect(fleet, 'studio-1', { username: 'root' })).rejects.toThrow(/auth/i);
    await expect(connect(fleet, 'studio-1', { privateKey: '', password: 'mesh' })).rejects.toThrow(/auth/i);
  });
});

describe("a simulated fleet's records", () => {
  it('count one connection and one command for one call', async () => {
    const before = fleet.counts()['studio-2'];
    await openSsh(fleet, 'studio-2', ['echo counted']);
    expect(
      await eventually(() => fleet.execs().some((one) => one.command === 'echo counted' && one.exit !== undefined)),
    ).toBe(true);
    const after = fleet.counts()['studio-2'];
    expect([
      (after?.connections ?? 0) - (before?.connections ?? 0),
      (after?.execs ?? 0) - (before?.execs ?? 0),
    ]).toEqual([1, 1]);
    expect(fleet.execs().at(-1)).toMatchObject({
      node: 'studio-2',
      command: 'echo counted',
      exit: { kind: 'exited', code: 0 },
      outputBytes: 8,
      client: expect.stringMatching(/^OpenSSH_/),
    });
  });

  it('include commands that a Mac would refuse, without running them', async () => {
    const ran = await openSsh(fleet, 'studio-2', ['echo ran; /usr/bin/stat -c %s x']);
    expect(ran).toMatchObject({ code: 127, stdout: '' });
    expect((await fleet.unknown())['studio-2']?.join('\n')).toContain('/usr/bin/stat');
  });
});

describe('stopping a simulated fleet', () => {
  it.runIf(isLinux)('kills background jobs and a process outside its group', async () => {
    const other = await freshFolder();
    const second = await startFleet({ folder: other, model: bareModel(['studio-1']) });
    const client = await connect(second, 'studio-1');
    await run(
      client,
      'sleep 300 >/dev/null 2>&1 </dev/null & perl -MPOSIX -e \'POSIX::setsid(); exec "sleep", "301"\' >/dev/null 2>&1 </dev/null & echo',
    );
    client.end();
    expect(await eventually(async () => (await markedProcesses(second.runId)).length === 2)).toBe(true);
    await second.stop();
    expect(await markedProcesses(second.runId)).toEqual([]);
    await second.stop();
    await removeFolder(other);
  });
});
