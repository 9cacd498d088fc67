import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePlaintext } from '../../../src/remote/connect-failure.ts';
import { fields } from './wire.ts';

const lists = [
  'curve25519-sha256,kex-strict-s-v00@openssh.com',
  'ssh-ed25519',
  'aes128-ctr',
  'aes256-ctr',
  'hmac-sha2-256',
  'hmac-sha2-512',
  ...['none', 'none', '', ''],
];
const payload = Buffer.concat([Buffer.from([20]), Buffer.alloc(16), fields(...lists), Buffer.alloc(5)]);
const header = Buffer.alloc(5);
header.writeUInt32BE(payload.length + 5);
header[4] = 4;
const intro = 'hello\r\nSSH-2.0-OpenSSH_10.0 mac\r\n';
const whole = Buffer.concat([Buffer.from(intro), header, payload, Buffer.alloc(4)]);

describe("the plaintext phase of a server's SSH connection", () => {
  it('contains the greeting, identification and offered algorithms', () => {
    expect(parsePlaintext(whole)).toEqual({
      greeting: 'hello\r\n',
      identification: 'SSH-2.0-OpenSSH_10.0 mac',
      offer: {
        kex: ['curve25519-sha256', 'kex-strict-s-v00@openssh.com'],
        hostKey: ['ssh-ed25519'],
        cipher: ['aes128-ctr'],
        mac: ['hmac-sha2-256'],
      },
    });
  });

  it('omits the parts that are cut off', () => {
    for (let length = 0; length < whole.length; length += 1) {
      const phase = parsePlaintext(whole.subarray(0, length));
      expect(phase.offer === undefined || length >= whole.length - 4).toBe(true);
      expect(phase.identification === undefined || length >= intro.length).toBe(true);
    }
  });

  it('is parsed from arbitrary bytes with a bounded greeting', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, isSsh) => {
        const start = isSsh ? whole.subarray(0, intro.length) : Buffer.alloc(0);
        expect(parsePlaintext(Buffer.concat([start, bytes])).greeting.length).toBeLessThanOrEqual(1024);
      }),
    );
  });
});
