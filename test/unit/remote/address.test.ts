import { describe, expect, it } from 'vitest';
import { isHost, isTcpPort, isUser, lookupName } from '../../../src/remote/remote.ts';

describe('the address check', () => {
  const hosts = ['studio-1', 'studio-1.lan', 'STUDIO.local.', '10.0.0.7', 'fe80::1%en0', '::1', 'a_b.lan'];
  it.each(hosts)('accepts %s', (host) => {
    expect(isHost(host)).toBe(true);
  });

  const ofShell = ['-oProxyCommand=x', 'a b', 'a;b', '$(x)', 'a\nb', 'a\0', 'a|b', '`x`'];
  const others = ['', 'é', '😀', 'user@host', 'a/b', '..', 'fe80::1%%h', '[::1]', 'x'.repeat(254)];
  it.each([...ofShell, ...others])('rejects %j', (host) => {
    expect(isHost(host)).toBe(false);
  });

  it('rejects user names with characters special to a shell or an option parser', () => {
    expect(['mesh', '_www', 'first.last', 'a-b'].every(isUser)).toBe(true);
    expect(['Mesh', 'A-B', 'aB'].every(isUser)).toBe(true);
    expect(
      ['ALL', 'A', 'A_1', '', '-l', '-l root', 'a b', 'a\nb', 'a$b', '0x', 'a@b', 'x'.repeat(33)].some(isUser),
    ).toBe(false);
  });

  it('accepts ports from 1 to 65535', () => {
    expect([1, 22, 65_535].every(isTcpPort)).toBe(true);
    expect([0, 65_536, 22.5, -1, Number.NaN].some(isTcpPort)).toBe(false);
  });

  it('writes names for lookups as OpenSSH does in known_hosts', () => {
    expect(lookupName('Studio-1.LAN', 22)).toBe('studio-1.lan');
    expect(lookupName('10.0.0.7', 2222)).toBe('[10.0.0.7]:2222');
    expect(lookupName('fe80::1%en0', 2222)).toBe('[fe80::1%en0]:2222');
  });
});
