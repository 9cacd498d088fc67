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
