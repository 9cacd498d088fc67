import { describe, expect, it } from 'vitest';
import { isDefaultIdentityList, judgeConfigLine, parseSshConfig } from '../../../src/remote/resolve-reach.ts';

// The output of `ssh -G` of OpenSSH 9.2 for a Host block that sets all of these options.
const output = `host studio-1
user mesh
hostname studio-1.lan
port 2222
identitiesonly yes
hostkeyalias rack
identityagent /Users/ana/.agent.sock
identityfile ~/.ssh/%r_key
identityfile /tmp/with space/k
globalknownhostsfile /etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2
userknownhostsfile /Users/ana/.ssh/kh_mesh /tmp/with space/kh
proxyjump none
revokedhostkeys none
`;

describe('the output of ssh -G', () => {
  it('contains every setting that the built-in client needs', () => {
    expect(parseSshConfig(output)).toEqual({
      hostName: 'studio-1.lan',
      port: 2222,
      user: 'mesh',
      identityFiles: ['~/.ssh/%r_key', '/tmp/with space/k'],
      identityAgent: '/Users/ana/.agent.sock',
      isIdentitiesOnly: true,
      knownHostsFiles: [
        '/Users/ana/.ssh/kh_mesh',
        '/tmp/with space/kh',
        '/etc/ssh/ssh_known_hosts',
        '/etc/ssh/ssh_known_hosts2',
      ],
      hostKeyAlias: 'rack',
    });
  });

  it('is rejected without a host name, user or port', () => {
    for (const key of ['hostname', 'user', 'port']) {
      expect(parseSshConfig(output.replace(new RegExp(`^${key} .*$`, 'mu'), ''))).toBeUndefined();
    }
    expect(parseSshConfig('')).toBeUndefined();
  });

  it('has the default key files only if every listed file is a default key file', () => {
    const names = ['id_rsa', 'id_ecdsa', 'id_ecdsa_sk', 'id_ed25519', 'id_ed25519_sk', 'id_xmss', 'id_dsa'];
    const files = names.map((name) => `~/.ssh/${name}`);
    expect(isDefaultIdentityList(files)).toBe(true);
    expect(isDefaultIdentityList([...files, '~/.ssh/work'])).toBe(false);
    const four = ['id_rsa', 'id_ecdsa', 'id_ed25519', 'id_dsa'].map((name) => `~/.ssh/${name}`);
    expect([isDefaultIdentityList(four), isDefaultIdentityList(four.slice(1))]).toEqual([true, false]);
  });
});

describe('an ssh_config line', () => {
  it.each(['', '  # comment', 'Host *', '  SendEnv LANG LC_*', 'HashKnownHosts=yes', 'gssapiauthentication yes'])(
    'is irrelevant: %j',
    (line) => {
      expect(judgeConfigLine(line)).toEqual({ kind: 'irrelevant' });
    },
  );

  it.each([
    'Host studio-*',
    'Match all',
    'Port 2222',
    'User x',
    'ProxyJump b',
    'HostName x',
    'IdentityFile ~/k',
    'NewKeyword 1',
    'CanonicalizeHostname yes',
    'Include ~/x',
    'Include "a b"',
    'port',
    'Host',
    'Host "*"',
  ])('may be relevant: %j', (line) => {
    expect(judgeConfigLine(line)).toEqual({ kind: 'relevant' });
  });

  it('is an include with its patterns', () => {
    expect(judgeConfigLine('Include /etc/ssh/ssh_config.d/* more.conf')).toEqual({
      kind: 'include',
      patterns: ['/etc/ssh/ssh_config.d/*', 'more.conf'],
    });
  });
});
