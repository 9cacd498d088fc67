import { describe, expect, it } from 'vitest';
import { ipv4Number, ipv4Text, ipv6Groups, mappedIpv4, maskOf } from '../../../src/model/ip-address.ts';

describe('IPv4 numbers', () => {
  it('convert to addresses and back', () => {
    expect(ipv4Number('255.255.255.255')).toBe(2 ** 32 - 1);
    expect(ipv4Text(2 ** 32 - 1)).toBe('255.255.255.255');
    expect(ipv4Text(ipv4Number('10.77.0.4') ?? 0)).toBe('10.77.0.4');
  });
});

describe('maskOf', () => {
  it('writes a prefix length in dotted form', () => {
    const masks = [0, 8, 22, 30, 32].map(maskOf);
    expect(masks).toEqual(['0.0.0.0', '255.0.0.0', '255.255.252.0', '255.255.255.252', '255.255.255.255']);
  });
});

describe('mappedIpv4', () => {
  it.each([
    ['::ffff:192.0.2.10', '192.0.2.10'],
    ['0000:0000:0000:0000:0000:ffff:c000:020a', '192.0.2.10'],
    ['::ffff:c000:20a', '192.0.2.10'],
    ['0:0:0:0:0:FFFF:192.0.2.10', '192.0.2.10'],
  ])('finds the IPv4 address in %s', (text, address) => {
    expect(mappedIpv4(text)).toBe(address);
  });

  const others = ['::192.0.2.10', '1::ffff:192.0.2.10', '::ffff:0:192.0.2.10', '::ffff:192.0.2', 'x'];
  it.each([...others, 'fe80::200:5eff:fe00:5307'])('finds no IPv4 address in %s', (text) => {
    expect(mappedIpv4(text)).toBeUndefined();
  });
});

describe('ipv6Groups', () => {
  it('reads every form of an address as the same groups', () => {
    const groups = [0x2001, 0xdb8, 0, 0, 0, 0, 0, 7];
    for (const text of ['2001:db8::7', '2001:0db8:0000:0000:0000:0000:0000:0007', '2001:DB8:0:0::7']) {
      expect(ipv6Groups(text)).toEqual(groups);
    }
    expect(ipv6Groups('::')).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  });

  const counts = ['1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1:2:3:4::5:6:7:8'];
  it.each(['', ':', ':::', ...counts, '::1::', '12345::', 'fe80::1%en0', '1.2.3.4'])('refuses %j', (text) => {
    expect(ipv6Groups(text)).toBeUndefined();
  });
});
