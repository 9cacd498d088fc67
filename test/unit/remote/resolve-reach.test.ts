import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { plainText } from '../../../src/diagnostics/prose-text.ts';
import { nodeSubject } from '../../../src/model/subject.ts';
import type { ReachEnv } from '../../../src/remote/resolve-reach.ts';
import { createReachResolver, localReachEnv, type ReachRequest } from '../../../src/remote/resolve-reach.ts';
import { rejection } from '../../sshd/ssh-case.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const { path: folder, at, write } = temporaryFolder();
const home = at('home');
for (const name of ['id_rsa', 'id_ed25519', 'work']) write(`home/.ssh/${name}`, '');

let count = 0;
function configFile(...lines: readonly string[]): string {
  count += 1;
  return write(`config-${count}`, `${lines.join('\n')}\n`);
}

const agent = at('agent.sock');
const env = (file: string, more: Partial<ReachEnv> = {}): ReachEnv => ({
  ...localReachEnv(),
  home,
  variables: { PATH: process.env['PATH'], SSH_AUTH_SOCK: agent, OTHER_SOCK: '/tmp/other.sock' },
  configFile: file,
  ...more,
});
const request: ReachRequest = { label: 'studio-1', host: 'studio-1' };
const resolve = (file: string, more: Partial<ReachRequest> = {}) =>
  createReachResolver(env(file)).resolve({ ...request, ...more });

describe("a node's resolved SSH target", () => {
  it('uses the Host block of ssh_config', async () => {
    const file = configFile(
      'Host studio-*',
      'HostName %h.lan',
      'User mesh',
      'Port 2222',
      'IdentityFile ~/.ssh/work',
      'IdentityAgent $OTHER_SOCK',
      'HostKeyAlias rack',
      `UserKnownHostsFile ${folder}/kh`,
    );
    const { target, knownHostsFiles } = await resolve(file);
    expect(target).toEqual({
      label: 'studio-1',
      host: 'studio-1.lan',
      port: 2222,
      user: 'mesh',
      rootPrefix: '',
      identityFiles: [join(home, '.ssh', 'work')],
      isIdentitiesOnly: false,
      agentSocket: '/tmp/other.sock',
      hostKeyAlias: 'rack',
    });
    expect(knownHostsFiles[0]).toBe(`${folder}/kh`);
  });

  it('prefers values from the cluster file, which Match blocks can match', async () => {
    const file = configFile('Match user ana', 'Port 77', 'Match all', 'User mesh', 'IdentityFile ~/.ssh/other');
    expect((await resolve(file, { user: 'ana' })).target).toMatchObject({ user: 'ana', port: 77 });
    expect((await resolve(file, { port: 99, identityFile: '~/.ssh/work' })).target).toMatchObject({
      user: 'mesh',
      port: 99,
      identityFiles: [join(home, '.ssh', 'work')],
      isIdentitiesOnly: true,
    });
  });

  it('omits default keys that do not exist, but not named keys', async () => {
    expect((await resolve(configFile(''))).target.identityFiles).toEqual([
      join(home, '.ssh', 'id_ed25519'),
      join(home, '.ssh', 'id_rsa'),
    ]);
    const named = await resolve(configFile('IdentityFile ~/.ssh/none-%r-%h'), { user: 'ana' });
    expect(named.target.identityFiles).toEqual([join(home, '.ssh', 'none-ana-studio-1')]);
  });

  it('uses a key file named in the cluster file literally, without tokens or variables', async () => {
    const identityFile = '/keys/%h-${HOME}-$(id)';
    expect((await resolve(configFile('Port 2222'), { identityFile })).target.identityFiles).toEqual([identityFile]);
  });

  it.each([
    ['ProxyJump bastion', 'ProxyJump bastion'],
    ['ProxyCommand nc %h %p', 'ProxyCommand nc'],
  ])('is rejected for %j, which the message names', async (line, shown) => {
    const problem = await rejection(resolve(configFile(line)));
    expect(problem).toMatchObject({ code: 'ssh/proxyjump', subject: nodeSubject('studio-1') });
    expect(plainText(problem.detail)).toContain(shown);
  });

  it('is rejected for RevokedHostKeys, which is not supported', async () => {
    expect(await rejection(resolve(configFile('RevokedHostKeys /tmp/krl')))).toMatchObject({
      code: 'ssh/config-unsupported',
    });
  });

  it("reports ssh's message about an invalid configuration", async () => {
    const problem = await rejection(resolve(configFile('Nonsense yes')));
    expect(problem.code).toBe('ssh/config-unreadable');
    expect(plainText(problem.detail).toLowerCase()).toContain('nonsense');
  });

  it('reports how ssh failed if ssh printed no message', async () => {
    const command = write('mute-ssh', '#!/bin/sh\nexit 7\n', 0o755);
    const file = configFile('Host studio-1', 'Port 2200');
    const mute = await rejection(createReachResolver(env(file, { command })).resolve(request));
    expect(mute.detail).toMatch(/^ssh -G .*: Command failed: /);
    write('mute-ssh', '#!/bin/sh\nprintf "nothing\\n"\n', 0o755);
    const odd = await rejection(createReachResolver(env(file, { command })).resolve(request));
    expect(odd.detail).toMatch(/: the output lacks host name, port or user$/);
  });

  it.each([
    { host: '-oProxyCommand=touch x' },
    { host: 'a b' },
    { user: '-l root' },
    { user: 'a\u0000b' },
    { port: 0 },
  ])('is rejected for %j before ssh runs', async (more) => {
    const marker = at('was-run');
    const command = write('fake-ssh', `#!/bin/sh\n: >'${marker}'\n`, 0o755);
    const resolver = createReachResolver(env(configFile('Host x', 'Port 1'), { command }));
    expect(await rejection(resolver.resolve({ ...request, ...more }))).toMatchObject({ code: 'ssh/bad-address' });
    expect(() => execFileSync('test', ['-e', marker])).toThrow();
  });

  it('is rejected if ssh_config may affect it and ssh is missing', async () => {
    const more = { command: 'no-such-ssh-here' };
    const resolver = createReachResolver(env(configFile('Host studio-1', 'ProxyJump bastion'), more));
    const problem = await rejection(resolver.resolve(request));
    expect(problem).toMatchObject({ code: 'ssh/config-unreadable', subject: nodeSubject('studio-1') });
    expect(problem.detail).toContain('no-such-ssh-here');
    expect((await createReachResolver(env(configFile(''), more)).resolve(request)).target.port).toBe(22);
  });
});

describe('ssh -G', () => {
  const never = ['Host never-this-one', 'Port 1'];

  it('gets a minimal environment and no options after the --', async () => {
    const file = at('seen');
    const command = write('spy-ssh', `#!/bin/sh\n{ printf '%s\\n' "$@"; env; } >'${file}'\nexec ssh "$@"\n`, 0o755);
    const variables = { ...env('').variables, SECRET_TOKEN: 'x' };
    const resolver = createReachResolver(env(configFile(...never), { command, variables }));
    await resolver.resolve({ ...request, user: 'ana', port: 9 });
    const seen = execFileSync('cat', [file], { encoding: 'utf8' });
    expect(seen).toContain('-l\nana\n-p\n9\n--\nstudio-1\n');
    expect(seen).not.toContain('SECRET_TOKEN');
  });

  it.each([
    [['']],
    [['Host *', '    SendEnv LANG LC_*', '    HashKnownHosts yes', '    GSSAPIAuthentication yes']],
    [['StrictHostKeyChecking no', 'ServerAliveInterval 5', '# User nobody']],
  ])('is skipped for %j without changing the result', async (lines) => {
    const silent = env(configFile(...lines), { command: 'no-such-ssh-here', home: userInfo().homedir });
    const asked = env(configFile(...lines, ...never), { home: userInfo().homedir });
    const hosts = [{ host: 'STUDIO.Lan' }, { host: 'fe80::1%lo' }, { host: '10.0.0.7' }];
    for (const more of [{}, ...hosts, { user: 'ana', port: 2222 }]) {
      const mine = await createReachResolver(silent).resolve({ ...request, ...more });
      expect(mine).toEqual(await createReachResolver(asked).resolve({ ...request, ...more }));
    }
  });

  it('runs if an included file has relevant settings', async () => {
    write('conf.d/a.conf', 'Host *\n');
    const file = configFile(`Include ${at('conf.d')}/*.conf`);
    // This file does not match the pattern, so ssh does not read it.
    write('conf.d/b.txt', 'Nonsense yes\nPort 2100\n');
    const unasked = createReachResolver(env(file, { command: 'no-such-ssh-here' }));
    expect((await unasked.resolve(request)).target.port).toBe(22);
    write('conf.d/b.conf', 'Port 2200\n');
    expect((await resolve(file)).target.port).toBe(2200);
  });

  it('runs for a nested relative Include that ssh would read, and for the config in the home folder', async () => {
    const file = configFile(`Include ${write('deep/outer.conf', 'Include inner.conf\n')}`);
    const answer = '#!/bin/sh\nprintf "hostname asked\\nuser asked\\nport 9\\n"\n';
    const fake = { command: write('asked-ssh', answer, 0o755) };
    const port = async (by: ReachEnv = env(file, fake)) => (await createReachResolver(by).resolve(request)).target.port;
    write('deep/inner.conf', 'Port 2200\n');
    expect(await port()).toBe(22);
    const own = write('home/.ssh/inner.conf', 'Port 2200\n');
    expect(await port()).toBe(9);
    rmSync(own);
    write('other/.ssh/config', 'Port 2200\n');
    const { configFile: _, ...usual } = env(file, { ...fake, home: at('other') });
    expect(await port(usual)).toBe(9);
    // The real ssh agrees: it does not read an included file next to the including one.
    const printed = execFileSync('ssh', ['-G', '-F', file, '--', 'studio-1'], { encoding: 'utf8' });
    expect(printed).toContain('\nport 22\n');
  });

  it('runs for 64 nodes in parallel', async () => {
    const resolver = createReachResolver(env(configFile('Host node-*', 'Port 2222')));
    const all = await Promise.all(
      Array.from({ length: 64 }, (_, index) => resolver.resolve({ label: 'n', host: `node-${index}` })),
    );
    expect(all.map(({ target }) => `${target.host}:${target.port}`)).toEqual(
      Array.from({ length: 64 }, (_, index) => `node-${index}:2222`),
    );
  });
});

describe('the trusted keys of a resolved node', () => {
  it('come from the known_hosts files that ssh would read', async () => {
    const base64 = 'AAAAC3NzaC1lZDI1NTE5AAAAIF3iYH1njxwXrlcltokMInyFXfM9UiQhdOID7dzPnmJ3';
    const file = write('my hosts', `studio-1 ssh-ed25519 ${base64}\n`);
    const config = configFile(`UserKnownHostsFile /nowhere "${file}"`, 'GlobalKnownHostsFile none');
    const resolver = createReachResolver(env(config));
    const trust = await resolver.trust(await resolver.resolve(request));
    expect(trust.judge(Buffer.from(base64, 'base64'))).toMatchObject({
      kind: 'accepted',
      known: { file, line: 1 },
    });
  });
});
