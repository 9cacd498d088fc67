import { generateKeyPairSync, randomBytes } from 'node:crypto';

/** A key pair as OpenSSH's files have it. */
export interface KeyPair {
  readonly privateKey: string;
  /** Type and base64. */
  readonly publicKey: string;
}

/** A value in SSH encoding: its length in four bytes, then its bytes. */
function field(value: Buffer | string): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

const fields = (...values: readonly (Buffer | string)[]): Buffer => Buffer.concat(values.map(field));

/**
 * Makes an Ed25519 key. ssh2's own generator sometimes makes keys that cannot be read back, and older versions of ssh
 * read no other form of such a key.
 *
 * @see OpenSSH PROTOCOL.key; RFC 8410: in both of Node's encodings, the key is the last 32 bytes
 */
export function makeKeyPair(): KeyPair {
  const made = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  });
  const [secret, open] = [made.privateKey.subarray(-32), made.publicKey.subarray(-32)];
  const check = randomBytes(4);
  const key = fields('ssh-ed25519', open);
  const content = Buffer.concat([check, check, key, fields(Buffer.concat([secret, open]), '')]);
  // The content is padded to blocks of 8 bytes, with the bytes 1, 2, 3 and so on.
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7].slice(0, (8 - (content.length % 8)) % 8));
  const file = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    fields('none', 'none', ''),
    Buffer.from([0, 0, 0, 1]),
    fields(key, Buffer.concat([content, padding])),
  ]);
  const lines = file.toString('base64').match(/.{1,70}/gu) ?? [];
  const words = 'OPENSSH PRIVATE KEY';
  return {
    privateKey: [`-----BEGIN ${words}-----`, ...lines, `-----END ${words}-----`, ''].join('\n'),
    publicKey: `ssh-ed25519 ${key.toString('base64')}`,
  };
}
