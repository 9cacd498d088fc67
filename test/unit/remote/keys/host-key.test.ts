import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fingerprint, parseHostKey, strictBase64, wireFields } from '../../../../src/remote/keys/host-key.ts';
import { edKey, fields } from '../wire.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

/** The point of a new key on a curve, in SSH encoding. */
function pointOn(crv: string): Buffer {
  const { x = '', y = '' } = generateKeyPairSync('ec', { namedCurve: crv }).publicKey.export({ format: 'jwk' });
  return Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
}

/** A number with this many bits, all set. */
const number = (bits: number): Buffer => hex(`00${((1n << BigInt(bits)) - 1n).toString(16).padStart(256, '0')}`);

const p256 = pointOn('P-256');
const points = { nistp256: p256, nistp384: pointOn('P-384'), nistp521: pointOn('P-521') };
const one = hex('01');
const sk = 'sk-ecdsa-sha2-nistp256@openssh.com';

/** The bytes with a changed last byte. */
const bent = (bytes: Buffer): Buffer => Buffer.concat([bytes.subarray(0, -1), Buffer.from([(bytes.at(-1) ?? 0) ^ 1])]);

describe('a host key', () => {
  it.each<readonly (Buffer | string)[]>([
    ['ssh-ed25519', Buffer.alloc(32, 7)],
    ['sk-ssh-ed25519@openssh.com', Buffer.alloc(32, 7), 'ssh:'],
    ['ssh-rsa', hex('010001'), number(1_024)],
    ['ssh-rsa', hex('7f'), number(4_096)],
    ['ssh-rsa', one, number(1_024)],
    ['ssh-dss', one, one, one, one],
    ...Object.entries(points).map(([curve, point]) => [`ecdsa-sha2-${curve}`, curve, point]),
    [sk, 'nistp256', p256, 'ssh:'],
  ])('is parsed for the type %s', (type, ...more) => {
    const blob = fields(type ?? '', ...more);
    expect(parseHostKey(blob)).toEqual({ type, base64: blob.toString('base64') });
  });

  it.each<readonly (Buffer | string)[]>([
    [],
    [''],
    ['ssh-ed25519'],
    ['ssh-ed25519', Buffer.alloc(31, 7)],
    ['ssh-ed25519', Buffer.alloc(33, 7)],
    ['ssh-ed25519', Buffer.alloc(32, 7), ''],
    ['sk-ssh-ed25519@openssh.com'],
    ['sk-ssh-ed25519@openssh.com', Buffer.alloc(32, 7)],
    ['sk-ssh-ed25519@openssh.com', Buffer.alloc(31, 7), 'ssh:'],
    ['ssh-rsa'],
    ['ssh-rsa', number(1_024)],
    ['ssh-rsa', one, number(1_023)],
    ['ssh-rsa', '', number(1_024)],
    ['ssh-rsa', hex('00'), number(1_024)],
    ['ssh-rsa', hex('80'), number(1_024)],
    ['ssh-rsa', one, number(1_024).subarray(1)],
    ['ssh-rsa', one, number(1_024), one],
    ['ssh-dss', one, one, one],
    ['ssh-dss', one, one, one, one, one],
    ['ssh-dss', one, one, hex('00'), one],
    ['ssh-new', one],
    ['ecdsa-sha2-nistp256'],
    ['ecdsa-sha2-nistp256', 'nistp256'],
    ['ecdsa-sha2-nistp256', 'nistp384', p256],
    ['ecdsa-sha2-nistp256', 'nistp256', p256, 'ssh:'],
    ['ecdsa-sha2-nistp256', 'nistp256', bent(p256)],
    ['ecdsa-sha2-nistp256', 'nistp256', p256.subarray(0, -1)],
    ['ecdsa-sha2-nistp256', 'nistp256', Buffer.concat([hex('02'), p256.subarray(1)])],
    ['ecdsa-sha2-nistp192', 'nistp192', p256],
    [sk, 'nistp256', p256],
    [`the ${sk}`, 'nistp256', p256, 'ssh:'],
  ])('is rejected if malformed or incomplete: %s', (...all) => {
    expect(parseHostKey(fields(...all))).toBeUndefined();
  });

  it('is rejected if its lengths do not match', () => {
    for (const cut of [1, 31, 32, 35, 36, 40]) expect(parseHostKey(edKey(7).subarray(0, -cut))).toBeUndefined();
    expect(parseHostKey(Buffer.concat([edKey(7), hex('00')]))).toBeUndefined();
  });

  it('has the same fingerprint as in ssh-keygen', () => {
    // ssh-keygen -lf of this key, OpenSSH 9.2.
    const base64 = 'AAAAC3NzaC1lZDI1NTE5AAAAIF3iYH1njxwXrlcltokMInyFXfM9UiQhdOID7dzPnmJ3';
    expect(fingerprint({ type: 'ssh-ed25519', base64 })).toBe('SHA256:UqWrXDeHpKt5mMGLDyu+ypmADk50Z5O+l4Zn7UG3XsU');
  });
});

describe('the SSH encoding', () => {
  it('consists of fields, each with a length', () => {
    expect(wireFields(Buffer.alloc(0))).toEqual([]);
    expect(wireFields(fields('ab', '', 'c', ''))).toEqual(['ab', '', 'c', ''].map((text) => Buffer.from(text)));
    expect(wireFields(hex('00000001ff'))).toEqual([hex('ff')]);
    for (const bad of ['00', '000000', '00000001', '00000002ff', '00000001ff00']) {
      expect(wireFields(hex(bad))).toBeUndefined();
    }
  });

  it('accepts base64 with white space but no other extra characters', () => {
    expect(strictBase64(' YW\tJj\r\n\v\f')).toEqual(Buffer.from('abc'));
    expect(strictBase64('YQ==')).toEqual(Buffer.from('a'));
    for (const bad of ['', ' ', 'YQ', 'YR==', 'YQ==YQ==', 'Y-Q=', 'YWJj!']) expect(strictBase64(bad)).toBeUndefined();
  });
});
