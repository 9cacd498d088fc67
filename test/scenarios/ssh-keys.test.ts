import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeSubject } from '../../src/model/subject.ts';
import { connect } from '../../src/remote/connect.ts';
import { authorizedKeysLines } from '../../src/remote/keys/identities.ts';
import type { Target } from '../../src/remote/remote.ts';
import { connectLimits, execLimits, makeSshCase } from '../sshd/ssh-case.ts';
import { hasSshd, makeKey, type Sshd, startSshd } from '../sshd/start-sshd.ts';
import { rejection } from './ssh-rejection.ts';

const ssh = makeSshCase(userInfo().username);
const passphrase = 'correct horse';

function encrypted(name: string, kind: string, extra: readonly string[] = []): string {
  const { file } = makeKey(ssh.folder, name, kind, extra);
  execFileSync('ssh-keygen', ['-q', '-p', '-P', '', '-N', passphrase, '-f', file], { stdio: 'pipe' });
  return file;
}

function addToAgent(socket: string, file: string): void {
  const copy = join(ssh.folder, 'plain-copy');
  writeFileSync(copy, readFileSync(file), { mode: 0o600 });
  execFileSync('ssh-keygen', ['-q', '-p', '-P', passphrase, '-N', '', '-f', copy], { stdio: 'pipe' });
  execFileSync('ssh-add', ['-q', copy], { stdio: 'pipe', env: { ...process.env, SSH_AUTH_SOCK: socket } });
}

/** Waits until an agent answers; its socket exists a moment earlier. */
async function agentAnswers(socket: string): Promise<void> {
  const unreached = 2;
  const env = { ...process.env, SSH_AUTH_SOCK: socket };
  while (spawnSync('ssh-add', ['-l'], { stdio: 'ignore', env }).status === unreached) await sleep(10);
}

describe.runIf(hasSshd())('the offered keys', () => {
  const socket = join(ssh.folder, 'agent.sock');
  const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
  const held = encrypted('held', 'ed25519');
  const heldRsa = encrypted('held-rsa', 'rsa', ['-b', '2048', '-m', 'PEM']);
  const lost = encrypted('lost', 'ed25519');
  let server: Sshd;

  beforeAll(async () => {
    await agentAnswers(socket);
    addToAgent(socket, held);
    addToAgent(socket, heldRsa);
    const userKeys = [held, heldRsa, lost].map((file) => readFileSync(`${file}.pub`, 'utf8').trim());
    server = await startSshd({ userKeys: [...userKeys, ssh.user.publicLine], hostKeys: [ssh.host.pair] });
  });
  afterAll(async () => {
    agent.kill();
    await server.stop();
    ssh.remove();
  });

  const tryWith = async (more: Partial<Target>): Promise<string> => {
    const remote = await connect(ssh.target(server.port, more), ssh.trust(server.port), connectLimits);
    const { exit } = await remote.exec('exit 0', execLimits);
    remote.close();
    return exit.kind === 'exited' ? String(exit.code) : exit.kind;
  };
  const refusal = (more: Partial<Target>) =>
    rejection(connect(ssh.target(server.port, more), ssh.trust(server.port), connectLimits));

  it('come from the agent if no file is named', async () => {
    expect(await tryWith({ identityFiles: [], agentSocket: socket })).toBe('0');
  });

  it('come from the agent for an encrypted file in either format', async () => {
    expect(await tryWith({ identityFiles: [held], agentSocket: socket, isIdentitiesOnly: true })).toBe('0');
    expect(await tryWith({ identityFiles: [heldRsa], agentSocket: socket, isIdentitiesOnly: true })).toBe('0');
  });

  it('come from the agent for a public key file', async () => {
    expect(await tryWith({ identityFiles: [`${held}.pub`], agentSocket: socket, isIdentitiesOnly: true })).toBe('0');
  });

  it("are refused with the file's name if a key file is encrypted and no agent has its key", async () => {
    const problem = await refusal({ identityFiles: [lost], agentSocket: socket, isIdentitiesOnly: true });
    expect(problem).toMatchObject({ code: 'ssh/key-encrypted', hint: `Add the key to the agent: ssh-add ${lost}` });
    expect(await refusal({ identityFiles: [lost] })).toMatchObject({ code: 'ssh/key-encrypted' });
  });

  it('come from the next file if one is encrypted', async () => {
    expect(await tryWith({ identityFiles: [lost, ssh.user.file] })).toBe('0');
  });

  it('exclude every missing, overly accessible or invalid file, which a diagnostic names', async () => {
    const open = makeKey(ssh.folder, 'open').file;
    chmodSync(open, 0o644);
    const text = join(ssh.folder, 'text');
    writeFileSync(text, 'hello\n', { mode: 0o600 });
    const cases = [
      [join(ssh.folder, 'missing'), 'the file does not exist'],
      [open, `other users can read it; chmod 600 ${open}`],
      [text, 'not a key file'],
      [ssh.folder, 'the path is a folder'],
      [`${ssh.user.file}.pub`, 'the ssh agent does not have its private key'],
    ] as const;
    for (const [file, reason] of cases) {
      const problem = await refusal({ identityFiles: [file] });
      expect(problem.code).toBe('ssh/key-unusable');
      expect(problem.detail).toContain(file);
      expect(problem.detail).toContain(reason);
    }
  });

  it('are reported as missing, without connecting, if there is no key file or agent', async () => {
    expect(await refusal({ identityFiles: [] })).toMatchObject({ code: 'ssh/no-key' });
    const dead = join(ssh.folder, 'dead.sock');
    expect(await refusal({ identityFiles: [], agentSocket: dead })).toMatchObject({ code: 'ssh/agent-unreachable' });
  });

  it('are not blamed on the node if the agent declines to sign', async () => {
    const asking = join(ssh.folder, 'asking.sock');
    const env = { ...process.env, SSH_ASKPASS: '/bin/false', SSH_ASKPASS_REQUIRE: 'force', DISPLAY: 'none' };
    const careful = spawn('ssh-agent', ['-D', '-a', asking], { stdio: 'ignore', env });
    await agentAnswers(asking);
    execFileSync('ssh-add', ['-q', '-c', ssh.user.file], {
      stdio: 'pipe',
      env: { ...process.env, SSH_AUTH_SOCK: asking },
    });
    const problem = await refusal({ identityFiles: [], agentSocket: asking });
    expect(problem).toMatchObject({ code: 'ssh/agent-declined', subject: nodeSubject('studio-1') });
    expect(problem.detail).toContain('agent: user');
    careful.kill();
  });

  it('number at most four with an agent, so that the node still reports its reason', async () => {
    const full = join(ssh.folder, 'full.sock');
    const many = spawn('ssh-agent', ['-D', '-a', full], { stdio: 'ignore' });
    await agentAnswers(full);
    const keys = Array.from({ length: 6 }, (_, at) => makeKey(ssh.folder, `full-${at}`).file);
    execFileSync('ssh-add', ['-q', ...keys], { stdio: 'pipe', env: { ...process.env, SSH_AUTH_SOCK: full } });
    const problem = await refusal({ identityFiles: [], agentSocket: full });
    expect(problem.code).toBe('ssh/authentication-failed');
    expect(problem.detail).toContain('2 more keys were not tried');
    many.kill();
  });

  it('can be added to a node as lines, in the order offered', async () => {
    const lines = await authorizedKeysLines(ssh.target(server.port, { agentSocket: socket }));
    const publicHalves = [ssh.user.publicLine, ...[held, heldRsa].map((file) => readFileSync(`${file}.pub`, 'utf8'))];
    expect(lines.map((line) => line.split(' ').slice(0, 2))).toEqual(
      publicHalves.map((line) => line.split(' ').slice(0, 2)),
    );
    expect(await authorizedKeysLines(ssh.target(server.port, { identityFiles: [] }))).toEqual([]);
  });

  it('are reported with the remaining login methods if the agent was refused', async () => {
    const strict = await startSshd({ userKeys: [], hostKeys: [ssh.host.pair] });
    const target = ssh.target(strict.port, { identityFiles: [], agentSocket: socket });
    const problem = await rejection(connect(target, ssh.trust(strict.port), connectLimits));
    expect(problem.code).toBe('ssh/authentication-failed');
    expect(problem.detail).toContain('agent: ');
    await strict.stop();
  });
});
