import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { concealed } from '../../src/model/secret.ts';
import { nodeSubject } from '../../src/model/subject.ts';
import { connectWithPassword, type PasswordLogin, unlockWithPassword } from '../../src/remote/keys/password-login.ts';
import type { FaultServer, Faults } from '../sshd/fault-server.ts';
import { connectLimits, execLimits, rejection, rejectionCode } from '../sshd/ssh-case.ts';
import { makeKey } from '../sshd/start-sshd.ts';
import { makeFaultCase } from './fault-case.ts';

const ssh = makeFaultCase();
const other = makeKey(ssh.folder, 'other');
const locked =
  'This system is locked. To unlock it, use a local account\r\nname and password. Once successfully\r\nunlocked, you will be able to connect normally.';

interface PasswordServer extends FaultServer {
  /** The passwords that the server received. */
  readonly passwords: string[];
}

/** A server that accepts `right` by these methods. */
async function start(methods: readonly string[], faults: Faults = {}): Promise<PasswordServer> {
  const passwords: string[] = [];
  const server = await ssh.start({
    onAuth: (context) => {
      const judge = (password: string | undefined): void => {
        passwords.push(password ?? '');
        if (password === 'right') context.accept();
        else context.reject([...methods] as never);
      };
      if (context.method === 'password' && methods.includes('password')) judge(context.password);
      else if (context.method === 'keyboard-interactive' && methods.includes('keyboard-interactive')) {
        context.prompt([{ prompt: 'Password:', echo: false }], (answers) => judge(answers?.[0]));
      } else context.reject([...methods] as never);
    },
    ...faults,
  });
  return { ...server, passwords };
}

const login = (server: FaultServer, password = 'right', key = ssh.host.pair): PasswordLogin => ({
  target: ssh.target(server.port),
  trust: ssh.trust(server.port, key),
  password: concealed(password),
});

describe('a login with a password', () => {
  it.each([['password'], ['keyboard-interactive']])(
    'connects using %s in a single attempt, without a key',
    async (method) => {
      const server = await start([method, 'publickey']);
      const remote = await connectWithPassword(login(server), connectLimits);
      const { exit } = await remote.exec('true', execLimits);
      remote.close();
      expect(exit).toEqual({ kind: 'exited', code: 0 });
      expect(server.logins).toEqual(['none', method]);
      expect(server.passwords).toEqual(['right']);
    },
  );

  it('sends nothing to a host key that differs from the pin', async () => {
    const server = await start(['password']);
    expect(await rejectionCode(connectWithPassword(login(server, 'right', other), connectLimits))).toBe(
      'ssh/host-key-changed',
    );
    expect(server.logins).toEqual([]);
  });

  it('tries a wrong password once, and reports this without the password', async () => {
    const server = await start(['password', 'keyboard-interactive']);
    const problem = await rejection(connectWithPassword(login(server, 'wrong-one'), connectLimits));
    expect(problem).toMatchObject({ code: 'ssh/password-refused', subject: nodeSubject('studio-1') });
    expect(JSON.stringify(problem)).not.toContain('wrong-one');
    expect(server.passwords).toEqual(['wrong-one']);
  });

  it('sends nothing to a node that accepts only keys, or waits at FileVault', async () => {
    const keysOnly = await start(['publickey']);
    expect(await rejectionCode(connectWithPassword(login(keysOnly), connectLimits))).toBe('ssh/no-password-login');
    const preboot = await start(['password'], { banner: locked });
    expect(await rejectionCode(connectWithPassword(login(preboot), connectLimits))).toBe('ssh/locked-at-filevault');
    expect([...keysOnly.passwords, ...preboot.passwords]).toEqual([]);
  });

  it.each([
    [[{ prompt: 'Password:', echo: true }]],
    [
      [
        { prompt: 'Password:', echo: false },
        { prompt: 'Code:', echo: false },
      ],
    ],
  ])('answers only a single hidden prompt', async (prompts) => {
    const answers: unknown[] = [];
    const server = await start([], {
      onAuth: (context) => {
        if (context.method === 'keyboard-interactive') context.prompt(prompts, (given) => answers.push(given));
        else context.reject(['keyboard-interactive']);
      },
    });
    expect(await rejectionCode(connectWithPassword(login(server), connectLimits))).toBe('ssh/strange-prompt');
    expect(answers).toEqual([]);
  });
});

describe('unlocking a Mac at FileVault over SSH', () => {
  it('succeeds if the Mac confirms it before dropping the connection', async () => {
    const said = 'System successfully unlocked.\r\n';
    const server = await start(['password'], {
      banner: locked,
      onShell: (channel) => {
        channel.write(said);
        channel.end();
      },
    });
    expect(await unlockWithPassword(login(server), connectLimits)).toEqual({ kind: 'unlocked' });
    expect(server.passwords).toEqual(['right']);
  });

  it('is unconfirmed if the Mac drops the connection silently', async () => {
    const server = await start(['password'], { banner: locked, onReady: (socket: Socket) => socket.destroy() });
    expect(await unlockWithPassword(login(server), connectLimits)).toEqual({ kind: 'unheard' });
  });

  it('fails for a wrong password, and sends it only once', async () => {
    const server = await start(['password'], { banner: locked });
    const answer = await unlockWithPassword(login(server, 'wrong-one'), connectLimits);
    expect(answer).toMatchObject({ kind: 'refused', diagnostic: { code: 'ssh/password-refused' } });
    expect(server.passwords).toEqual(['wrong-one']);
  });

  it('sends nothing to a server that is not locked, has a different key, is broken or closes', async () => {
    const open = await start(['password', 'publickey']);
    expect(await unlockWithPassword(login(open), connectLimits)).toEqual({ kind: 'not-locked' });
    const impostor = await start(['password'], { banner: locked });
    const cases = [
      await unlockWithPassword(login(impostor, 'right', other), connectLimits),
      await unlockWithPassword(
        login(await start([], { onSocket: (one) => one.end('HTTP/1.1 400\r\n\r\n') })),
        connectLimits,
      ),
      await unlockWithPassword(login(await start([], { onSocket: () => undefined })), { deadlineMs: 200 }),
      await unlockWithPassword(login(await start([], { onSocket: (one) => one.destroy() })), connectLimits),
    ];
    expect(cases.map((one) => (one.kind === 'unreached' ? one.diagnostic.code : one.kind))).toEqual([
      'ssh/host-key-changed',
      'ssh/not-ssh',
      'ssh/timed-out',
      'ssh/dropped',
    ]);
    expect([...open.passwords, ...impostor.passwords]).toEqual([]);
  });

  it('sends nothing after an unknown banner', async () => {
    const server = await start(['password'], { banner: 'Once successfully unlocked, type your password\u001b[2J' });
    expect(await unlockWithPassword(login(server), connectLimits)).toEqual({ kind: 'not-locked' });
    expect(server.passwords).toEqual([]);
  });
});
