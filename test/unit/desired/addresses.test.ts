import { describe, expect, it } from 'vitest';
import { canonicalAddress, firstAddress, isInside, parseIpv4Network } from '../../../src/desired/addresses.ts';

describe('canonicalAddress', () => {
  it.each([
    ['Studio.LAN.', 'studio.lan'],
    ['10.0.0.1', '10.0.0.1'],
    ['::1', '0:0:0:0:0:0:0:1'],
    ['::', '0:0:0:0:0:0:0:0'],
    ['FE80::00aB%en0', 'fe80:0:0:0:0:0:0:ab%en0'],
    ['::ffff:10.0.0.1', '0:0:0:0:0:ffff:a00:1'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['a1.b2', 'a1.b2'],
  ])('turns %s into %s', (host, form) => {
    expect(canonicalAddress(host)).toBe(form);
  });

  it.each([
    '10.0.0.256',
    '010.0.0.1',
    '10.1',
    '1000',
    '0x7f.1',
    '1.2.3.4.5',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    'fe80::1%',
    'fe80::1%a%b',
    '::12345',
    '1.2.3.4::',
    '::1.2.3.4:5',
  ])('rejects %s', (host) => {
    expect(canonicalAddress(host)).toBeUndefined();
  });
});

describe('an IPv4 network', () => {
  it('may be written with any of its addresses', () => {
    expect(parseIpv4Network('10.77.3.9/22')).toEqual({ address: '10.77.3.9', prefixLength: 22 });
    expect(firstAddress({ address: '10.77.3.9', prefixLength: 22 })).toBe('10.77.0.0');
    expect(firstAddress({ address: '200.1.2.3', prefixLength: 0 })).toBe('0.0.0.0');
    expect(firstAddress({ address: '200.1.2.3', prefixLength: 32 })).toBe('200.1.2.3');
  });

  it.each(['10.0.0.0', '10.0.0.0/33', '10.0.0.0/08', '10.0.0.0/', '10.0.0/8', '10.0.0.0/8/9', '::/0'])(
    'is not read from %s',
    (text) => {
      expect(parseIpv4Network(text)).toBeUndefined();
    },
  );

  it('is inside a network that contains all of its addresses', () => {
    const ten = { address: '10.0.0.0', prefixLength: 8 };
    expect(isInside({ address: '10.255.0.0', prefixLength: 24 }, ten)).toBe(true);
    expect(isInside({ address: '10.0.0.0', prefixLength: 7 }, ten)).toBe(false);
    expect(isInside({ address: '11.0.0.0', prefixLength: 24 }, ten)).toBe(false);
  });
});
