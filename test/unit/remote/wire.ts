/** A value as SSH writes it: its length in four bytes, then itself. */
export function field(bytes: Buffer | string): Buffer {
  const body = Buffer.from(bytes);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
}

/** Several of them. */
export const fields = (...values: readonly (Buffer | string)[]): Buffer => Buffer.concat(values.map(field));

/** An Ed25519 key whose bytes are all the same. */
export const edKey = (byte: number): Buffer => fields('ssh-ed25519', Buffer.alloc(32, byte));
