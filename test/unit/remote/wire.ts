import ssh2 from 'ssh2';

/** A value in SSH encoding: its length in four bytes, then its bytes. */
export function field(bytes: Buffer | string): Buffer {
  const body = Buffer.from(bytes);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
}

/** Several values in SSH encoding. */
export const fields = (...values: readonly (Buffer | string)[]): Buffer => Buffer.concat(values.map(field));

/** An Ed25519 key whose bytes are all the same. */
export const edKey = (byte: number): Buffer => fields('ssh-ed25519', Buffer.alloc(32, byte));

/** ssh2 cuts off zero bytes with which a public key begins, so that one key in 256 cannot be read back. */
export function edPair(options: Parameters<typeof ssh2.utils.generateKeyPairSync>[1] = {}) {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519', options);
    if (Buffer.from(pair.public.split(' ')[1] ?? '', 'base64').length === edKey(0).length) return pair;
  }
}
