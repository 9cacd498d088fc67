import { describe, expect, it } from 'vitest';
import { ipv6Groups, isIpv4, isName, mappedIpv4, wholeNumber } from '../../../../src/node/answers/grammar.ts';

describe('mappedIpv4', () => {
  it.each([
    ['::ffff:192.0.2.10', '192.0.2.10'],
    ['0000:0000:0000:0000:0000:ffff:c000:020a', '192.0.2.10'],
    ['::ffff:c000:20a', '192.0.2.10'],
    ['0:0:0:0:0:FFFF:192.0.2.10', '192.0.2.10'],
  ])('finds the IPv4 address in %s', (text, address) => {
    expect(mappedIpv4(text)).toBe(address);
  });

  it.each([
    'fe80::200:5eff:fe00:5307',
    '::192.0.2.10',
    '1::ffff:192.0.2.10',
    '::ffff:0:192.0.2.10',
    '::ffff:192.0.2',
    'x',
  ])('finds no IPv4 address in %s', (text) => {
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

  it.each([
    '',
    ':',
    ':::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4::5:6:7:8',
    '::1::',
    '12345::',
    'fe80::1%en0',
    '1.2.3.4',
  ])('refuses %j', (text) => {
    expect(ipv6Groups(text)).toBeUndefined();
  });
});

describe('single values', () => {
  it('accept only whole numbers that JavaScript represents exactly', () => {
    expect(wholeNumber('549755813888')).toBe(549_755_813_888);
    for (const text of ['', '-1', '1e3', '0x10', ' 1', '9007199254740993', undefined]) {
      expect(wholeNumber(text)).toBeUndefined();
    }
  });

  it('refuse IPv4 numbers above 255 and names with control characters', () => {
    expect(isIpv4('192.0.2.255')).toBe(true);
    expect(isIpv4('192.0.2.256')).toBe(false);
    expect(isName('Büro-Mac №3')).toBe(true);
    expect(isName('a\u0007')).toBe(false);
    expect(isName(' a')).toBe(false);
  });
});
