import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** A TLS server's key with its certificate, which is signed by the same key. Clients trust the certificate itself. */
export interface ServerIdentity {
  readonly key: string;
  readonly cert: string;
}

const derLength = (size: number): Buffer => {
  if (size < 0x80) return Buffer.of(size);
  return size < 0x100 ? Buffer.of(0x81, size) : Buffer.of(0x82, size >> 8, size & 0xff);
};
const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag), derLength(content.length), content]);
};
const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const octets = (content: Uint8Array): Buffer => der(0x04, content);
const bits = (content: Uint8Array, unused = 0): Buffer => der(0x03, Buffer.of(unused), content);
const isTrue = der(0x01, Buffer.of(0xff));

/** An object identifier as its encoded bytes, because each of the few here is a constant. */
const identifier = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const ecdsaWithSha256 = sequence(identifier('2a8648ce3d040302'));
const commonName = identifier('550403');
const basicConstraints = identifier('551d13');
const keyUsage = identifier('551d0f');
const extendedKeyUsage = identifier('551d25');
const serverAuthentication = identifier('2b06010505070301');
const subjectNames = identifier('551d11');

/** RFC 5280 section 4.1.2.5: UTCTime until the year 2049. */
const utcTime = (at: Date): Buffer => der(0x17, Buffer.from(`${at.toISOString().slice(2, 19).replace(/[-T:]/g, '')}Z`));

const subjectName = (host: string): Buffer =>
  isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host));

const pem = (content: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${(content.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`;

const dayMs = 86_400_000;

/**
 * Creates a key and a certificate for HTTPS servers under these host names and IPv4 addresses, for one year. Node.js can
 * read certificates but not create them, and the openssl program is not installed everywhere.
 *
 * @see RFC 5280
 */
export function createServerIdentity(hosts: readonly string[], now: Date): ServerIdentity {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from('meshwright simulated web')))));
  const extensions = sequence(
    sequence(basicConstraints, isTrue, octets(sequence(isTrue))),
    // Bits 0 and 5 of 6: digitalSignature, keyCertSign.
    sequence(keyUsage, isTrue, octets(bits(Buffer.of(0b1000_0100), 2))),
    sequence(extendedKeyUsage, octets(sequence(serverAuthentication))),
    sequence(subjectNames, octets(sequence(...hosts.map(subjectName)))),
  );
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    // Serial numbers are positive: the first byte stays below 0x80.
    der(0x02, Buffer.of(1), randomBytes(8)),
    ecdsaWithSha256,
    name,
    sequence(utcTime(new Date(now.getTime() - dayMs)), utcTime(new Date(now.getTime() + 365 * dayMs))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const cert = pem(sequence(body, ecdsaWithSha256, bits(sign('sha256', body, privateKey))));
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), cert };
}
