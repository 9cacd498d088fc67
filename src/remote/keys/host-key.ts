import { createHash, createPublicKey } from 'node:crypto';
import type { HostKey } from '../../model/cluster-lock.ts';

const curves: Readonly<Record<string, { readonly crv: string; readonly bytes: number }>> = {
  nistp256: { crv: 'P-256', bytes: 32 },
  nistp384: { crv: 'P-384', bytes: 48 },
  nistp521: { crv: 'P-521', bytes: 66 },
};

/** Splits the length-prefixed fields of an SSH wire value; undefined if the lengths do not match. */
export function wireFields(bytes: Buffer): readonly Buffer[] | undefined {
  const fields: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (at + 4 > bytes.length) return undefined;
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) return undefined;
    fields.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

/** Decodes base64 as strictly as OpenSSH: skips whitespace and rejects all other non-canonical text. */
export function strictBase64(text: string): Buffer | undefined {
  const plain = text.replace(/[\t\n\v\f\r ]/gu, '');
  const bytes = Buffer.from(plain, 'base64');
  return plain !== '' && bytes.toString('base64') === plain ? bytes : undefined;
}

function isOnCurve(curve: string, point: Buffer): boolean {
  const shape = curves[curve];
  if (shape === undefined || point.length !== 1 + 2 * shape.bytes || point[0] !== 4) return false;
  const x = point.subarray(1, 1 + shape.bytes).toString('base64url');
  const y = point.subarray(1 + shape.bytes).toString('base64url');
  try {
    createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: shape.crv, x, y } });
    return true;
  } catch {
    return false;
  }
}

function positiveBits(mpint: Buffer | undefined): number {
  if (mpint === undefined || (mpint[0] ?? 0) >= 0x80) return 0;
  const hex = mpint.toString('hex').replace(/^0+/u, '');
  return hex === '' ? 0 : BigInt(`0x${hex}`).toString(2).length;
}

function isWellFormed(type: string, fields: readonly Buffer[]): boolean {
  const [first, second] = fields;
  if (type === 'ssh-ed25519') return fields.length === 1 && first?.length === 32;
  if (type === 'ssh-rsa') return fields.length === 2 && positiveBits(first) > 0 && positiveBits(second) >= 1024;
  if (type === 'ssh-dss') return fields.length === 4 && fields.every((field) => positiveBits(field) > 0);
  if (type === 'sk-ssh-ed25519@openssh.com') return fields.length === 2 && first?.length === 32;
  const curve = /^(?:sk-)?ecdsa-sha2-(nistp\d+)(?:@openssh\.com)?$/u.exec(type)?.[1];
  if (curve === undefined || first?.toString('latin1') !== curve || second === undefined) return false;
  return fields.length === (type.startsWith('sk-') ? 3 : 2) && isOnCurve(curve, second);
}

/** Parses a host key from its wire form; undefined for any key that OpenSSH would reject (RSA below 1,024 bits). */
export function parseHostKey(blob: Buffer): HostKey | undefined {
  const fields = wireFields(blob);
  const type = fields?.[0]?.toString('latin1');
  if (fields === undefined || type === undefined || !isWellFormed(type, fields.slice(1))) return undefined;
  return { type, base64: blob.toString('base64') };
}

/** The fingerprint as `ssh-keygen -l` prints it: `SHA256:` and 43 characters. */
export function fingerprint(key: HostKey): string {
  const digest = createHash('sha256').update(Buffer.from(key.base64, 'base64')).digest('base64');
  return `SHA256:${digest.replace('=', '')}`;
}
